import Foundation
import Glibc

/// A vault with one account, in a directory that goes when the measurement is over.
struct SampleVault {
    static let account = "mira"
    private static let enrollment = "otpauth://totp/Harbor%20Bank:\(account)?secret=\(Sample.codeSecret)&issuer=Harbor%20Bank"

    /// The environment with the vault's place in it.
    let environment: [String]
    private let signet: String
    /// The directory of the vault, and of everything that is measured with it.
    let directory: String

    init(signet: String) throws {
        self.signet = signet
        var template = Array((FileManager.default.temporaryDirectory.path + "/signet-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError("no temporary directory: \(String(cString: strerror(errno)))") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // An agent of this vault, and no other one, is asked.
        environment = ChildProcess.environment(
            adding: ["SIGNET_HOME": directory + "/vault", "SIGNET_AGENT": directory + "/agent/agent.sock"])
        do {
            try (Sample.codeSecret + "\n").write(toFile: secretFile, atomically: false, encoding: .utf8)
            try Self.enrollment.write(toFile: enrollmentFile, atomically: false, encoding: .utf8)
            try start(["init", "--protect", "keyfile"]).wait()
            try start(["enroll", "-"], input: .file(enrollmentFile)).wait()
        } catch {
            remove()
            throw error
        }
    }

    /// A file with the account's secret, as oathtool reads it.
    var secretFile: String { directory + "/secret" }
    private var enrollmentFile: String { directory + "/enrollment" }

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

    func remove() {
        // What is left lies where the system clears up.
        try? FileManager.default.removeItem(atPath: directory)
    }
}
