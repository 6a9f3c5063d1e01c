import ArgumentParser
import SignetCore

/// The error message for an argument in the place of a command's name that is not one.
enum UnknownCommand {
    /// Returns the message about the first argument that should be the name of a command and is not, with the most similar name.
    /// - Parameter arguments: The arguments of the process, without the name of the program.
    /// - Returns: The message, with the usage; nil when no argument is in the place of a command's name, or each is one.
    static func message(in arguments: some Sequence<String>) -> String? {
        var command: any ParsableCommand.Type = Signet.self
        var path = "signet"
        for argument in arguments {
            let subcommands = command.configuration.subcommands
            guard !subcommands.isEmpty, !argument.hasPrefix("-"), argument != "help" else { return nil }
            guard let next = subcommands.first(where: { $0.configuration.commandName == argument }) else {
                let names = subcommands.compactMap { $0.configuration.commandName }
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

    /// Returns the name that differs from the word in one or two characters, or else the only name that begins with it.
    private static func similar(to word: String, in names: [String]) -> String? {
        if let nearest = names.nearest(to: word) { return nearest }
        let longer = names.filter { $0.hasPrefix(word.lowercased()) }
        return longer.count == 1 ? longer.first : nil
    }
}
