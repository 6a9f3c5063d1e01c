import ArgumentParser
import Foundation

/// Prints the help of commands.
///
/// The argument parser wraps all lines of the help but the usage, which is wrapped here.
enum HelpText {
    /// The address of the documentation, for help texts: a user of an installed program has no other copy.
    static let documentation = "https://github.com/signet-identity/signet/tree/main/docs"

    /// The least width of help texts: the argument parser omits a text for which no width is left beside the options.
    private static let minColumns = 40

    /// Prints what a request for help or for a version asks for, and ends the process.
    /// - Parameter request: The error with which the argument parser reports the request.
    static func show(_ request: any Error) -> Never {
        let text = Signet.fullMessage(for: request, columns: columns)
        if !text.isEmpty { Console.bytes(Array((wrappingUsage(in: text, columns: columns) + "\n").utf8)) }
        Signet.exit()
    }

    /// The width of help texts: that of the environment variable `COLUMNS`, or else that of the terminal, or else 80.
    static var columns: Int {
        let given = ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) }
        return max(given ?? terminalColumns ?? 80, minColumns)
    }

    private static var terminalColumns: Int? {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }

    /// Returns the text with its usage line wrapped between arguments.
    /// - Parameters:
    ///   - text: A help text or an error message of the argument parser.
    ///   - columns: The width in characters.
    /// - Returns: The text with further line feeds, after which the usage is indented.
    static func wrappingUsage(in text: String, columns: Int) -> String {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let shown = lines.map { line in
            let isUsage = line.hasPrefix("USAGE: ") || line.hasPrefix("Usage: ")
            return isUsage && line.count > columns ? Self.wrapped(line, columns) : String(line)
        }
        return shown.joined(separator: "\n")
    }

    private static func wrapped(_ usage: Substring, _ columns: Int) -> String {
        let indent = String(repeating: " ", count: "USAGE: ".count)
        var lines: [String] = []
        var line = ""
        for argument in arguments(of: usage) {
            if line.isEmpty {
                line = argument
            } else if line.count + 1 + argument.count <= columns {
                line += " " + argument
            } else {
                lines.append(line)
                line = indent + argument
            }
        }
        return (lines + [line]).joined(separator: "\n")
    }

    /// Returns the words of a usage line; an argument in brackets is one of them.
    private static func arguments(of usage: Substring) -> [String] {
        var arguments: [String] = []
        var argument = ""
        var depth = 0
        for character in usage {
            if character == " ", depth == 0 {
                arguments.append(argument)
                argument = ""
                continue
            }
            if character == "[" { depth += 1 }
            if character == "]" { depth -= 1 }
            argument.append(character)
        }
        return arguments + [argument]
    }
}
