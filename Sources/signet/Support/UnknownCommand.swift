import ArgumentParser
import SignetCore

/// The error message for an argument in the place of a command's name that is not one.
enum UnknownCommand {
    /// Returns the message about the first argument that should be the name of a command and is not, with the most similar name.
    ///
    /// The names after a first `help` are the names of the command whose help the user wants.
    /// - Parameter arguments: The arguments of the process, without the name of the program.
    /// - Returns: The message, with the usage; nil when no argument is in the place of a command's name, or each is one.
    static func message(in arguments: some Collection<String>) -> String? {
        var command: any ParsableCommand.Type = Signet.self
        var path = "signet"
        for argument in arguments.dropFirst(asksForHelp(arguments) ? 1 : 0) {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            guard let next = subcommands.first(where: { $0.configuration.commandName == argument }) else {
                let names = subcommands.filter { $0.configuration.shouldDisplay }.compactMap { $0.configuration.commandName }
                let hint = similar(to: argument, in: names).map { "; did you mean '\(path) \($0)'?" } ?? ""
                return """
                    there is no command '\(path) \(argument)'\(hint)
                    Usage: \(path) <subcommand>
                      See '\(path) --help' for more information.
                    """
            }
            command = next
            path += " \(argument)"
        }
        return nil
    }

    /// Returns the message about a name after `help` that is not the name of a command.
    ///
    /// The argument parser accepts any name there, and shows the help of the command before the first one that it does not know.
    /// - Parameter arguments: The arguments of the process, without the name of the program.
    /// - Returns: The message of ``message(in:)``; nil when the first argument is not `help`, or when each name is known.
    static func messageAfterHelp(in arguments: some Collection<String>) -> String? {
        asksForHelp(arguments) ? message(in: arguments) : nil
    }

    private static func asksForHelp(_ arguments: some Collection<String>) -> Bool { arguments.first == "help" }

    /// Returns the name that differs from the word in one or two characters, or else the only name that begins with it.
    private static func similar(to word: String, in names: [String]) -> String? {
        if let nearest = names.nearest(to: word) { return nearest }
        let longer = names.filter { $0.hasPrefix(word.lowercased()) }
        return longer.count == 1 ? longer.first : nil
    }
}
