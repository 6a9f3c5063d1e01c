import Foundation
import Glibc

/// `signet code NAME` as a whole process beside `oathtool`, and the memory it takes.
enum ProcessRows {
    private static let timeName = "signet code, beside oathtool"
    private static let memoryName = "signet code, peak memory"
    private static let memoryLimit = 28.0
    /// A busy machine lets every process wait for its turn, the short one for as long as the long one.
    ///
    /// That brings the ratio nearer to one: a limit that is missed would seem to hold.
    private static let maxDisturbance = 1.3

    static func measure(signet: String) async throws -> [Row] {
        let vault = try SampleVault(signet: signet)
        defer { vault.remove() }
        return [try await besideOATHTool(vault), try memory(vault)]
    }

    private static func besideOATHTool(_ vault: SampleVault) async throws -> Row {
        guard let oathtool = ChildProcess.find("oathtool") else { return .skipped(timeName, because: "there is no oathtool") }
        let command = [oathtool, "--totp", "--base32", "-"]
        try checkCodes(vault, command)
        let ours = Contender("signet code") { try time($0) { try vault.start(["code", SampleVault.account]).wait() } }
        let reference = Contender("oathtool") {
            try time($0) {
                try ChildProcess(command, environment: vault.environment, input: .file(vault.secretFile), output: .nowhere).wait()
            }
        }
        let outcome = try await Race(ours: ours, reference: reference, rounds: 301, slice: .microseconds(1)).run()
        guard outcome.disturbance < maxDisturbance else {
            let times = outcome.disturbance.formatted(.number.precision(.fractionLength(1)))
            return .skipped(timeName, because: "the machine is too busy: oathtool took \(times) times its fastest run")
        }
        return Row(timeName, outcome, .atMost(12, ambition: 8))
    }

    private static func time(_ runs: Int, _ body: () throws -> Void) rethrows -> Duration {
        try ContinuousClock().measure { for _ in 0..<runs { try body() } }
    }

    /// Checks the printed codes, so that no wrong result is measured.
    ///
    /// The second attempt is for a period that ended between the two.
    private static func checkCodes(_ vault: SampleVault, _ command: [String]) throws {
        for _ in 1...2 {
            let ours = try vault.output(of: vault.start(["code", SampleVault.account], output: .pipe))
            let theirs = try vault.output(
                of: ChildProcess(command, environment: vault.environment, input: .file(vault.secretFile), output: .pipe))
            if ours == theirs { return }
        }
        throw BenchError("signet and oathtool make different codes")
    }

    private static func memory(_ vault: SampleVault) throws -> Row {
        let peaks = try (0..<11).map { _ in
            try PeakMemory.mebibytes(of: vault.command(["code", SampleVault.account]), vault.environment)
        }
        return Row(
            name: memoryName, ratio: peaks.median / memoryLimit, limit: .atMost(1),
            ours: Row.Figure(name: "signet code", value: peaks.median, unit: "MiB"),
            reference: Row.Figure(name: "the limit", value: memoryLimit, unit: "MiB"))
    }
}

/// A vault with one account, in a directory that goes when the measurement is over.
private struct SampleVault {
    static let account = "mira"
    private static let enrollment = "otpauth://totp/Harbor%20Bank:\(account)?secret=\(Sample.codeSecret)&issuer=Harbor%20Bank"

    /// The environment with the vault's place in it.
    let environment: [String]
    private let signet: String
    private let directory: String

    init(signet: String) throws {
        self.signet = signet
        var template = Array((FileManager.default.temporaryDirectory.path + "/signet-bench-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else { throw BenchError("no temporary directory: \(String(cString: strerror(errno)))") }
        directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        environment = ChildProcess.environment(adding: ["SIGNET_HOME": directory + "/vault"])
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
