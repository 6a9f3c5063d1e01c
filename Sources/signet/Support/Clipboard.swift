import ArgumentParser
import Foundation
import SignetCore

/// A program that reads and writes the clipboard of the desktop.
enum ClipboardTool: String, ExpressibleByArgument, CaseIterable, Sendable {
    /// wl-clipboard, for Wayland.
    case wlClipboard = "wl-copy"
    /// For X11.
    case xclip
    /// For X11.
    case xsel

    /// The most bytes that are compared with a code, more than any code has.
    static let maxCodeSize = 64

    /// Returns the tools for this desktop that are installed, the best first.
    static func available(in environment: [String: String]) -> [ClipboardTool] {
        allCases.filter { tool in
            let display = environment[tool == .wlClipboard ? "WAYLAND_DISPLAY" : "DISPLAY"] ?? ""
            return !display.isEmpty && DesktopProgram.path(of: tool.rawValue, in: environment) != nil
        }
    }

    /// Puts a text on the clipboard.
    ///
    /// The text is the standard input of the program, never an argument.
    /// - Throws: ``Failure`` when the program cannot be started or fails.
    func copy(_ text: String) throws(Failure) { try write(copying, text) }

    /// Returns what is on the clipboard.
    ///
    /// A picture in PNG or JPEG takes precedence over text, because a copied part of a web page can have both.
    /// - Parameter limit: The most bytes.
    /// - Returns: The bytes of the picture or of the text.
    /// - Throws: ``Failure`` when the clipboard is empty, when it has more bytes, and when the program cannot be started or fails.
    func contents(limit: Int) throws(Failure) -> [UInt8] {
        if let listing {
            let outcome = try run(listing, limit: 65_536)
            let types = String(decoding: outcome.output, as: UTF8.self).split(whereSeparator: \.isNewline).map(String.init)
            if let type = ["image/png", "image/jpeg"].first(where: { types.contains($0) }) {
                return try succeeding(try run(picture(of: type), limit: limit))
            }
        }
        return try succeeding(try run(pasting, limit: limit))
    }

    /// Clears the clipboard if it holds exactly `text`.
    /// - Returns: True when it was cleared.
    /// - Throws: ``Failure`` when the program cannot be started.
    func clear(ifHolding text: [UInt8]) throws(Failure) -> Bool {
        let outcome = try run(pasting, limit: Self.maxCodeSize)
        guard outcome.status == 0, outcome.output == text else { return false }
        try write(clearing, "")
        return true
    }

    // MARK: Commands

    private var copying: [String] {
        switch self {
        // With a type, wl-copy starts no other program to guess it.
        case .wlClipboard: ["wl-copy", "--type", "text/plain"]
        case .xclip: ["xclip", "-selection", "clipboard", "-in"]
        case .xsel: ["xsel", "--clipboard", "--input"]
        }
    }

    private var pasting: [String] {
        switch self {
        case .wlClipboard: ["wl-paste", "--no-newline"]
        case .xclip: ["xclip", "-selection", "clipboard", "-out"]
        case .xsel: ["xsel", "--clipboard", "--output"]
        }
    }

    private var clearing: [String] {
        switch self {
        case .wlClipboard: ["wl-copy", "--clear"]
        case .xclip: copying
        case .xsel: ["xsel", "--clipboard", "--clear"]
        }
    }

    /// Prints the types of what is on the clipboard; nil for a tool that knows only text.
    private var listing: [String]? {
        switch self {
        case .wlClipboard: ["wl-paste", "--list-types"]
        case .xclip: ["xclip", "-selection", "clipboard", "-target", "TARGETS", "-out"]
        case .xsel: nil
        }
    }

    private func picture(of type: String) -> [String] {
        switch self {
        case .wlClipboard: ["wl-paste", "--type", type]
        case .xclip, .xsel: ["xclip", "-selection", "clipboard", "-target", type, "-out"]
        }
    }

    private func write(_ command: [String], _ text: String) throws(Failure) {
        let outcome = try DesktopProgram.run(try path(command), Array(command.dropFirst()), input: Array(text.utf8))
        guard outcome.status == 0 else { throw failure("ended with \(outcome.status)") }
    }

    private func run(_ command: [String], limit: Int) throws(Failure) -> DesktopProgram.Outcome {
        try DesktopProgram.run(try path(command), Array(command.dropFirst()), outputLimit: limit)
    }

    private func succeeding(_ outcome: DesktopProgram.Outcome) throws(Failure) -> [UInt8] {
        guard outcome.status == 0, !outcome.output.isEmpty else {
            throw Failure(.notFound, "clipboard", "the clipboard has neither a picture nor text (\(rawValue))")
        }
        return outcome.output
    }

    private func path(_ command: [String]) throws(Failure) -> String {
        guard let path = DesktopProgram.path(of: command[0], in: ProcessInfo.processInfo.environment) else {
            throw failure("needs the program \(command[0]), which is not installed")
        }
        return path
    }

    private func failure(_ reason: String) -> Failure { Failure(.unavailable, "clipboard", "\(rawValue) \(reason)") }
}

/// Puts a one-time code on the clipboard.
struct CodeCopier {
    /// The tools to try, the best first.
    private let tools: [ClipboardTool]
    /// The seconds after which the code is removed from the clipboard; 0 to leave it there.
    private let clearingSeconds: Int

    /// Finds the ways to copy.
    ///
    /// It must succeed before a counter-based code is used up.
    /// - Throws: ``Failure`` when there is neither a tool for the desktop nor a terminal.
    init(clearingAfter seconds: Int) throws(Failure) {
        tools = ClipboardTool.available(in: ProcessInfo.processInfo.environment)
        clearingSeconds = seconds
        guard !tools.isEmpty || Terminal.isThere else {
            throw Failure(
                .unavailable, "clipboard",
                "there is no clipboard here: on Wayland install wl-clipboard, on X11 xclip or xsel; without them signet needs a"
                    + " terminal that knows OSC 52")
        }
    }

    /// The outcome of copying a code.
    struct Copied: Sendable {
        /// The sentences about it, without the code.
        let lines: [TerminalText]
        /// The process that clears the clipboard later; nil when none does.
        ///
        /// It is a child, so a command that runs on has to wait for its end.
        var clearing: pid_t?
    }

    /// Copies the digits of a code, and says how on standard error.
    /// - Parameters:
    ///   - digits: The digits.
    ///   - validity: The end of the line, with the seconds that the code is valid; empty for a counter-based code.
    /// - Throws: ``Failure`` when no way worked. The code is in no message.
    func copy(_ digits: String, validity: TerminalText) throws(Failure) {
        for line in try put(digits, validity: validity).lines { Console.error(line) }
    }

    /// Copies the digits of a code.
    /// - Parameters:
    ///   - digits: The digits.
    ///   - validity: The end of the line, with the seconds that the code is valid; empty for a counter-based code.
    /// - Returns: The way in which they were copied.
    /// - Throws: ``Failure`` when no way worked. The code is in no message.
    func put(_ digits: String, validity: TerminalText) throws(Failure) -> Copied {
        var failures: [String] = []
        for tool in tools {
            do throws(Failure) {
                try tool.copy(digits)
            } catch {
                failures.append(error.message)
                continue
            }
            let (sentence, process) = clearing(of: digits, with: tool)
            return Copied(lines: ["Copied with \(tool.rawValue)\(validity). \(sentence)"], clearing: process)
        }
        guard Terminal.isThere else { throw Failure(.unavailable, "clipboard", failures.joined(separator: "; ")) }
        Self.sendToTerminal(digits)
        let sent: TerminalText =
            "Sent to the terminal's clipboard (OSC 52)\(validity). signet cannot read that clipboard, and does not clear it."
        let reports: [TerminalText] = failures.map { "signet: \($0)" }
        return Copied(lines: reports + [sent])
    }

    /// Starts the process that clears the clipboard, and returns the sentence about it.
    private func clearing(of digits: String, with tool: ClipboardTool) -> (sentence: TerminalText, process: pid_t?) {
        guard clearingSeconds > 0 else { return ("It stays on the clipboard.", nil) }
        do throws(Failure) {
            let process = try DesktopProgram.startDetached(
                Self.ownPath, ["clear-clipboard", tool.rawValue, "--after", String(clearingSeconds)], input: Array(digits.utf8))
            return ("The clipboard is cleared in \(clearingSeconds) s.", process)
        } catch {
            return ("It stays on the clipboard: \(error.message)", nil)
        }
    }

    /// The path of this program.
    private static var ownPath: String {
        (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? CommandLine.arguments[0]
    }

    /// Asks the terminal to put a text on the clipboard, with the control sequence OSC 52 of xterm.
    ///
    /// It works through SSH, because the terminal is on the user's machine. A terminal that does not know the sequence ignores it.
    private static func sendToTerminal(_ text: String) {
        let descriptor = open("/dev/tty", O_WRONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        Console.write(TerminalText(verbatim: sequence(for: text)), to: descriptor)
    }

    /// Returns the control sequence that puts a text on the clipboard.
    static func sequence(for text: String) -> String {
        "\u{1B}]52;c;\(Base64.encode(Array(text.utf8), as: .standard))\u{07}"
    }
}
