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
        let secret = vault.directory + "/secret"
        try vault.write([SampleAccount.only.secret], to: secret)
        try checkCodes(vault, command, secret)
        let ours = Contender("signet code") { try time($0) { try vault.start(["code", SampleAccount.only.name]).wait() } }
        let reference = Contender("oathtool") {
            try time($0) {
                try ChildProcess(command, environment: vault.environment, input: .file(secret), output: .nowhere).wait()
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
    private static func checkCodes(_ vault: SampleVault, _ command: [String], _ secret: String) throws {
        for _ in 1...2 {
            let ours = try vault.output(of: vault.start(["code", SampleAccount.only.name], output: .pipe))
            let theirs = try vault.output(
                of: ChildProcess(command, environment: vault.environment, input: .file(secret), output: .pipe))
            if ours == theirs { return }
        }
        throw BenchError("signet and oathtool make different codes")
    }

    private static func memory(_ vault: SampleVault) throws -> Row {
        let peaks = try (0..<11).map { _ in
            try PeakMemory.mebibytes(of: vault.command(["code", SampleAccount.only.name]), vault.environment)
        }
        return Row(memoryName, of: "signet code", peaks.median, atMost: memoryLimit, "MiB")
    }
}
