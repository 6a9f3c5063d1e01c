import Crypto
import CryptoExtras
import Foundation
import SignetCore

/// Another program that prints the current code of an account.
protocol CodePeer {
    /// The name of the program in the table.
    static var name: String { get }
    /// True when the program is on this machine.
    static var isInstalled: Bool { get }
    /// The limit of our time beside that of the program.
    static var limit: Limit { get }

    /// Stores accounts as the program does, or as its documentation says.
    /// - Parameters:
    ///   - accounts: The accounts.
    ///   - directory: An empty directory of mode 0700.
    /// - Throws: ``BenchError`` when a program fails.
    init(_ accounts: [SampleAccount], in directory: String) throws

    /// Runs the program to its end, and returns the code that it prints.
    func code(of account: SampleAccount) throws -> String

    /// Ends what the program has left running.
    func stop()
}

extension CodePeer {
    static var limit: Limit { .atMost(1) }
    func stop() {}
}

/// The way to run a program of a peer.
struct PeerProgram {
    private let environment: [String]

    init(_ environment: [String]) { self.environment = environment }

    /// Creates an environment with additions, among them the user's home.
    init(home: String, _ additions: [String: String] = [:]) {
        environment = ChildProcess.environment(adding: additions.merging(["HOME": home]) { $1 })
    }

    /// Runs a program, whose path comes first in the command.
    /// - Throws: ``BenchError`` when it ends with anything but 0.
    func run(_ command: [String]) throws {
        try ChildProcess(command, environment: environment, input: .nowhere, output: .nowhere).wait()
    }

    /// Runs a program, and returns the last line that it prints.
    /// - Parameters:
    ///   - command: The path and the arguments.
    ///   - input: The standard input.
    ///   - meanwhile: Called while the program runs.
    /// - Returns: The line without its end.
    /// - Throws: ``BenchError`` when it ends with anything but 0; the errors of `meanwhile`.
    func lastLine(
        _ command: [String], input: ChildProcess.Stream = .nowhere, meanwhile: () throws -> Void = {}
    ) throws -> String {
        let process = try ChildProcess(command, environment: environment, input: input, output: .pipe)
        try meanwhile()
        var last = ""
        while let line = process.readLine() { last = line }
        try process.wait()
        return last
    }

    /// Returns the path of a program.
    /// - Throws: ``BenchError`` when it is not in `PATH`.
    static func path(_ name: String) throws -> String {
        guard let path = ChildProcess.find(name) else { throw BenchError("there is no \(name)") }
        return path
    }
}

/// oathtool of oath-toolkit, which keeps no store: it reads the secret from its input.
///
/// The row is there for the record.
struct OATHTool: CodePeer {
    static let name = "oathtool"
    static var isInstalled: Bool { ChildProcess.find(name) != nil }
    static var limit: Limit { .none }

    private let program: String
    private let directory: String
    private let run: PeerProgram

    init(_ accounts: [SampleAccount], in directory: String) throws {
        self.directory = directory
        program = try PeerProgram.path(Self.name)
        run = PeerProgram(home: directory)
        for account in accounts {
            try account.secret.write(toFile: "\(directory)/\(account.name)", atomically: false, encoding: .utf8)
        }
    }

    func code(of account: SampleAccount) throws -> String {
        try run.lastLine([program, "--totp", "--base32", "-"], input: .file("\(directory)/\(account.name)"))
    }
}

/// pass with its extension pass-otp: a file for each account, encrypted to a key of GnuPG.
///
/// The key has no passphrase, which is like one whose passphrase gpg-agent remembers.
struct PassOTP: CodePeer {
    static let name = "pass-otp"
    static var isInstalled: Bool {
        ["pass", "gpg", "gpgconf", "oathtool"].allSatisfy { ChildProcess.find($0) != nil }
            && FileManager.default.fileExists(atPath: "/usr/lib/password-store/extensions/otp.bash")
    }

    private static let user = "bench@example.test"
    private let program: String
    private let run: PeerProgram

    init(_ accounts: [SampleAccount], in directory: String) throws {
        let (keys, store) = (directory + "/gnupg", directory + "/store")
        for folder in [keys, store] {
            try FileManager.default.createDirectory(
                atPath: folder, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        program = try PeerProgram.path("pass")
        run = PeerProgram(home: directory, ["GNUPGHOME": keys, "PASSWORD_STORE_DIR": store])
        let gpg = [try PeerProgram.path("gpg"), "--batch", "--quiet"]
        try run.run(gpg + ["--passphrase", "", "--quick-generate-key", Self.user, "default", "default", "never"])
        try run.run([program, "init", Self.user])
        // As 'pass otp insert' encrypts them, but all at once: gpg writes FILE.gpg beside each file.
        let files = accounts.map { "\(store)/\($0.name)" }
        for (account, file) in zip(accounts, files) {
            try (account.uri + "\n").write(toFile: file, atomically: false, encoding: .utf8)
        }
        let options = ["--compress-algo=none", "--no-encrypt-to", "--trust-model", "always", "--recipient", Self.user]
        try run.run(gpg + options + ["--multifile", "--encrypt"] + files)
        for file in files { try FileManager.default.removeItem(atPath: file) }
    }

    func code(of account: SampleAccount) throws -> String { try run.lastLine([program, "otp", account.name]) }

    func stop() {
        // The agent also ends by itself when its directory is gone.
        guard let program = ChildProcess.find("gpgconf") else { return }
        try? run.run([program, "--kill", "all"])
    }
}

/// KeePassXC: a KDBX database that a key file opens, with the costs that the program chooses.
struct KeePassXC: CodePeer {
    static let name = "KeePassXC"
    static var isInstalled: Bool { ChildProcess.find("keepassxc-cli") != nil }

    private let program: String
    private let run: PeerProgram
    private let database: String
    private let key: String

    init(_ accounts: [SampleAccount], in directory: String) throws {
        program = try PeerProgram.path("keepassxc-cli")
        run = PeerProgram(home: directory)
        database = directory + "/accounts.kdbx"
        key = directory + "/key"
        try Data((0..<64).map { _ in UInt8.random(in: 0 ... .max) }).write(to: URL(filePath: key))
        let export = directory + "/accounts.xml"
        try Self.export(accounts).write(toFile: export, atomically: false, encoding: .utf8)
        try run.run([program, "import", "--set-key-file", key, export, database])
    }

    /// The accounts in KeePass's XML format, which the program imports.
    private static func export(_ accounts: [SampleAccount]) -> String {
        let entries = accounts.enumerated().map { number, account in
            let uri = account.uri.replacing("&", with: "&amp;")
            return """
                <Entry><UUID>\(identifier(number + 1))</UUID>
                <String><Key>Title</Key><Value>\(account.name)</Value></String>
                <String><Key>otp</Key><Value ProtectInMemory="True">\(uri)</Value></String></Entry>
                """
        }
        return """
            <?xml version="1.0" encoding="utf-8"?>
            <KeePassFile><Meta><Generator>signet-bench</Generator></Meta><Root>
            <Group><UUID>\(identifier(0))</UUID><Name>Root</Name>\(entries.joined(separator: "\n"))</Group>
            </Root></KeePassFile>
            """
    }

    /// A UUID in Base64.
    private static func identifier(_ number: Int) -> String {
        Data([1] + [UInt8](repeating: 0, count: 7) + withUnsafeBytes(of: UInt64(number).bigEndian) { Array($0) })
            .base64EncodedString()
    }

    func code(of account: SampleAccount) throws -> String {
        try run.lastLine([program, "show", "--quiet", "--no-password", "--key-file", key, "--totp", database, account.name])
    }
}

/// OTPClient's program for the command line: a database that a password opens, which the program reads from a terminal.
///
/// It keeps all accounts in locked memory at once, and does not open a database that needs more of it than a user has.
struct OTPClient: CodePeer {
    static let name = "OTPClient"
    static var isInstalled: Bool { ChildProcess.find("otpclient-cli") != nil }

    private static let password = "four unrelated words here"
    private let program: String
    private let run: PeerProgram

    init(_ accounts: [SampleAccount], in directory: String) throws {
        program = try PeerProgram.path("otpclient-cli")
        run = PeerProgram(home: directory, ["XDG_CONFIG_HOME": directory])
        let database = directory + "/accounts.enc"
        try Self.database(accounts).write(to: URL(filePath: database))
        try "[config]\ndb_path=\(database)\nuse_secret_service=false\n".write(
            toFile: directory + "/otpclient.cfg", atomically: false, encoding: .utf8)
    }

    /// Returns a database as version 3 of the program writes it.
    ///
    /// It begins with the nonce and the salt, which are authenticated. The JSON of the accounts follows, encrypted by AES-256-GCM, and
    /// the tag. The key comes from the password by PBKDF2 with HMAC-SHA512 and 100,000 rounds.
    private static func database(_ accounts: [SampleAccount]) throws -> Data {
        let json = JSON.encode(
            .array(
                accounts.map { account in
                    .object([
                        "type": .string("TOTP"), "label": .string(account.name), "issuer": .string("Harbor Bank"),
                        "secret": .string(account.secret), "digits": .integer(6), "algo": .string("SHA1"), "period": .integer(30),
                    ])
                }))
        let (nonce, salt) = (random(16), random(32))
        let key = try KDF.Insecure.PBKDF2.deriveKey(
            from: Array(password.utf8), salt: salt, using: .sha512, outputByteCount: 32, unsafeUncheckedRounds: 100_000)
        let box = try AES.GCM.seal(json, using: key, nonce: AES.GCM.Nonce(data: nonce), authenticating: nonce + salt)
        return nonce + salt + box.ciphertext + box.tag
    }

    private static func random(_ count: Int) -> Data { Data((0..<count).map { _ in UInt8.random(in: 0 ... .max) }) }

    func code(of account: SampleAccount) throws -> String {
        let terminal = try PasswordTerminal()
        // Its long options are not those of its help.
        let line = try run.lastLine([program, "show", "-a", account.name, "-m"], input: .file(terminal.path)) {
            try terminal.type(Self.password)
        }
        guard line.hasPrefix("Current TOTP") else { throw BenchError(line) }
        return String(line.suffix(6))
    }
}
