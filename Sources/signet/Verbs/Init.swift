import ArgumentParser
import SignetCore
import SignetStorage

struct Init: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make the vault.",
        discussion:
            "A vault that is there already is never touched. Nothing is weaker than you ask for: the protection is yours to name."
    )

    /// Who can keep the vault's key.
    enum Protection: String, ExpressibleByArgument, CaseIterable {
        case keyfile
    }

    @Option(help: "Who keeps the key: 'keyfile', a file of mode 0600 beside the records. It protects what is copied without it.")
    var protect: Protection

    @Flag(help: "Print JSON: path, protection.")
    var json = false

    func run() throws {
        let directory = try Session.directory()
        let vault = try directory.createVault(.keyFile)
        let protection = vault.header.slots.map(\.custodian).joined(separator: ", ")
        if json {
            Console.line(JSONText.line(.object(["path": .string(directory.path), "protection": .string(protection)])))
        } else {
            Console.line("Made a vault in \(directory.path), sealed by \(protection).")
            Console.line("Keep \(directory.keyPath): without it nothing in the vault can be read.")
        }
    }
}
