import Foundation
import SignetCore
import SignetJourney

/// Prints the texts of a step on standard error.
///
/// Standard output is reserved for the result of the command.
struct StepPrinter {
    /// The last text of a waiting step, which is printed only once.
    private var waitingText: TerminalText = ""

    /// Prints the headings and texts of a step, and everything that the user has to act on.
    mutating func show(_ step: JourneyStep, _ prompts: PromptSession) {
        let isWaiting = step.waitMilliseconds != nil
        // A heading has one line; the other texts may have several.
        var lines = [step.header.map { TerminalText($0.pageLine) }].compactMap(\.self)
        lines += ([step.description].compactMap(\.self) + step.infoTexts).map { TerminalText(lines: $0.pageLines) }
        for callback in step.callbacks.compactMap(\.typed) {
            switch callback {
            case let text as TextOutputCallback where text.messageType != .script:
                lines.append(Self.text(text.message, text.messageType))
            case let text as SuspendedTextOutputCallback: lines.append(Self.text(text.message, text.messageType))
            case let wait as PollingWaitCallback: lines.append(TerminalText(lines: wait.message.pageLines))
            default: break
            }
        }
        let number = step.pushChallengeNumber.map { "Choose this number on your device: \($0)" as TerminalText }
        let text = lines.filter { !$0.description.trimmingWhitespace().isEmpty }.joined(separator: "\n")
        let all = text + (number ?? "")
        if !isWaiting || all != waitingText {
            if !text.description.isEmpty { prompts.report(text) }
            if let number { Console.error(number) }
        }
        waitingText = isWaiting ? all : ""
        if let codes = step.recoveryCodes { Self.show(codes) }
    }

    private static func text(_ message: String, _ type: MessageType) -> TerminalText {
        let message = TerminalText(lines: EmbeddedPicture.removing(from: message).pageLines)
        return switch type {
        case .warning: "Warning: \(message)"
        case .error: "Error: \(message)"
        case .information, .script, .unknown: message
        }
    }

    /// Prints recovery codes.
    ///
    /// They allow a login without the device and are shown only once, so they go to a user and never to a log file.
    private static func show(_ codes: JourneyStep.RecoveryCodes) {
        guard Console.showsToUser else {
            Console.error(
                "The server shows \(codes.codes.count) recovery codes, which are not written to a file; log in at a terminal.")
            return
        }
        Console.error("Recovery codes of \(codes.deviceName). They are not shown again; keep them in a safe place:")
        for code in codes.codes { Console.error("  \(code.text)") }
    }

    /// Draws a text as a QR code, if a user reads standard error and the terminal is wide enough.
    /// - Returns: True if it was drawn.
    static func draw(_ text: String) -> Bool {
        guard Console.showsToUser, let drawing = try? QRDrawing(text: text) else { return false }
        var size = winsize()
        let isKnown = ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 0
        guard !isKnown || drawing.terminalColumns <= Int(size.ws_col) else {
            Console.error("The window is too narrow for the QR code, which needs \(drawing.terminalColumns) columns.")
            return false
        }
        Console.prompt(TerminalText(verbatim: drawing.terminalText(ansi: true)))
        return true
    }
}
