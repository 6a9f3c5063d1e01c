import Foundation
import Glibc

/// A vault with accounts, in a directory that goes when the measurement is over.
struct SampleVault {
    /// The environment with the vault's place in it.
    let environment: [String]
    /// The variables of the vault's place, and of the socket of its agent.
    let variables: [String: String]
    private let signet: String
    /// The directory of the vault, and of everything that is measured with it.
    let directory: String
    /// The options for commands that open the vault, with ``passphraseFile`` as their input.
    let opening: [String]

    /// Creates a vault.
    /// - Parameters:
    ///   - signet: The path of the full program.
    ///   - accounts: The accounts to store.
    ///   - passphrase: The passphrase that protects the vault; nil for a key file.
    /// - Throws: ``BenchError`` when a command fails.
    init(signet: String, accounts: [SampleAccount] = [.only], passphrase: String? = nil) throws {
        self.signet = signet
        var template = Array((FileManager.default.temporaryDirectory.path + "/signet-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError("no temporary directory: \(String(cString: strerror(errno)))") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // An agent of this vault, and no other one, is asked.
        variables = ["SIGNET_HOME": directory + "/vault", "SIGNET_AGENT": directory + "/agent/agent.sock"]
        environment = ChildProcess.environment(adding: variables)
        opening = passphrase == nil ? [] : ["--passphrase-fd", "0"]
        do {
            try write(accounts.map(\.uri), to: enrollmentFile)
            try write([passphrase ?? ""], to: passphraseFile)
            let protection = ["--protect", passphrase == nil ? "keyfile" : "passphrase"]
            try start(["init"] + protection + opening, input: .file(passphraseFile)).wait()
            try start(["import", enrollmentFile] + opening, input: .file(passphraseFile)).wait()
        } catch {
            remove()
            throw error
        }
    }

    /// A file with the passphrase, as a command reads it.
    var passphraseFile: String { directory + "/passphrase" }
    private var enrollmentFile: String { directory + "/enrollment" }

    /// The small program that an installation has as `signet`; nil when it is not where an installation has it.
    var installedProgram: String? {
        let path = URL(filePath: signet).appending(path: "../../../bin/signet").standardized.path
        return access(path, X_OK) == 0 ? path : nil
    }

    func command(_ arguments: [String]) -> [String] { [signet] + arguments }

    func start(
        _ arguments: [String], input: ChildProcess.Stream = .nowhere, output: ChildProcess.Stream = .nowhere
    ) throws -> ChildProcess {
        try ChildProcess(command(arguments), environment: environment, input: input, output: output)
    }

    func output(of process: ChildProcess) throws -> String? {
        let line = process.readLine()
        try process.wait()
        return line
    }

    /// Writes lines to a file.
    func write(_ lines: [String], to path: String) throws {
        try (lines.joined(separator: "\n") + "\n").write(toFile: path, atomically: false, encoding: .utf8)
    }

    func remove() {
        // What is left lies where the system clears up.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
