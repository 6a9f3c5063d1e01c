import Foundation
import SignetCore
import SignetJourney

/// An error that the user reads.
struct TerminalError: Error, CustomStringConvertible {
    let reason: String
    var description: String { reason }
}

/// Shows the steps of a journey, and asks for what they need, by the type of each callback.
///
/// Texts go to standard error; standard output is for the result.
struct Terminal {
    /// The last texts, which a waiting step would otherwise repeat at each poll.
    private var shown: [String] = []

    /// Writes a line to standard error.
    static func write(_ line: String, end: String = "\n") {
        FileHandle.standardError.write(Data((line + end).utf8))
    }

    /// Shows the texts of a step, and the number to choose on the device that received a push message.
    mutating func show(_ step: JourneyStep) {
        var lines = [step.header, step.description].compactMap { $0 } + step.infoTexts
        for callback in step.callbacks {
            switch callback.typed {
            case let text as TextOutputCallback where text.messageType != .script: lines.append(text.message)
            case let wait as PollingWaitCallback: lines.append(wait.message)
            default: break
            }
        }
        if let number = step.pushChallengeNumber { lines.append("Choose this number on your device: \(number)") }
        lines = lines.map { Self.printable($0) }.filter { !$0.isEmpty }
        if lines != shown {
            for line in lines { Self.write(line) }
        }
        shown = lines
    }

    /// Fills in all callbacks of a step.
    /// - Throws: ``TerminalError`` when the input ends, and for a callback that this program does not know; `CallbackError`.
    func fill(_ step: inout JourneyStep) throws {
        for index in step.callbacks.indices {
            if let filled = try filled(step.callbacks[index]) { step.callbacks[index] = filled }
        }
    }

    /// Returns the answered callback; nil for one that asks for nothing.
    private func filled(_ callback: JourneyCallback) throws -> JourneyCallback? {
        switch callback.typed {
        case is TextOutputCallback, is PollingWaitCallback, is HiddenValueCallback, is MetadataCallback: return nil
        case var name as NameCallback:
            name.name = try ask(name.prompt)
            return name.callback
        case var password as PasswordCallback:
            password.fill(try askUnseen(password.prompt))
            return password.callback
        case var text as TextInputCallback:
            text.text = try ask(text.prompt)
            return text.callback
        case var choice as ChoiceCallback:
            try choice.select(try ask(choice.prompt, options: choice.choices))
            return choice.callback
        case var confirmation as ConfirmationCallback:
            let prompt = confirmation.prompt.isEmpty ? "Go on with" : confirmation.prompt
            try confirmation.select(try ask(prompt, options: confirmation.options))
            return confirmation.callback
        case var terms as TermsAndConditionsCallback:
            Self.write(Self.printable(terms.terms))
            terms.isAccepted = try ask("Accept the terms", options: ["no", "yes"]) == 1
            return terms.callback
        default: throw TerminalError(reason: "this program has no question for a \(callback.type)")
        }
    }

    // MARK: Questions

    private func ask(_ prompt: String) throws -> String {
        Self.write(Self.printable(prompt) + ": ", end: "")
        guard let line = readLine() else { throw TerminalError(reason: "the input ended") }
        return line
    }

    /// Asks for one of several options, by its number, and returns its index.
    private func ask(_ prompt: String, options: [String]) throws -> Int {
        for (index, option) in options.enumerated() { Self.write("  \(index + 1)) \(Self.printable(option))") }
        while true {
            let line = try ask("\(prompt) (1 to \(options.count))")
            if let number = Int(line), options.indices.contains(number - 1) { return number - 1 }
        }
    }

    /// Asks for a secret, which the terminal does not show.
    private func askUnseen(_ prompt: String) throws -> Secret {
        var settings = termios()
        let isTerminal = tcgetattr(STDIN_FILENO, &settings) == 0
        let before = settings
        if isTerminal {
            signal(SIGINT, endWithEcho)
            settings.c_lflag &= ~tcflag_t(ECHO)
            tcsetattr(STDIN_FILENO, TCSAFLUSH, &settings)
        }
        defer {
            if isTerminal {
                var before = before
                tcsetattr(STDIN_FILENO, TCSAFLUSH, &before)
                signal(SIGINT, SIG_DFL)
                Self.write("")
            }
        }
        return Secret(try ask(prompt).utf8)
    }

    /// Returns a text of the server without control characters, with which it could change what the terminal shows.
    private static func printable(_ text: String) -> String {
        let scalars = text.unicodeScalars.filter { $0 == "\n" || $0.properties.generalCategory != .control }
        return String(String.UnicodeScalarView(scalars))
    }
}

/// Turns the echo of the terminal on and ends the program: Ctrl-C while the user types a secret.
///
/// It is a signal handler, so it calls only what signal-safety(7) permits.
private func endWithEcho(_ number: Int32) {
    var settings = termios()
    if tcgetattr(STDIN_FILENO, &settings) == 0 {
        settings.c_lflag |= tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &settings)
    }
    _exit(128 + number)
}
