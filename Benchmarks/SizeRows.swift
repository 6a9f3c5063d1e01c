/// `signet code NAME` and `signet accounts` as whole processes, with many accounts beside few.
enum SizeRows {
    private static let few = 10
    private static let many = 5_000
    /// The time that `signet accounts` may take for each account, in microseconds.
    ///
    /// It reads, opens and decodes the records of the account twice: for the list and to find damage.
    private static let accountLimit = 60.0

    static func measure(signet: String) async throws -> [Row] {
        let small = try SampleVault(signet: signet, accounts: SampleAccount.several(few))
        defer { small.remove() }
        let large = try SampleVault(signet: signet, accounts: SampleAccount.several(many))
        defer { large.remove() }
        return [try await code(large, small), try listing(large, small)]
    }

    private static func code(_ large: SampleVault, _ small: SampleVault) async throws -> Row {
        let name = SampleAccount.several(few)[few / 2].name
        // The same account has the same code in both; the second attempt is for a period that ended between the two.
        let isSame = try (0..<2).contains { _ in try code(name, large) == code(name, small) }
        guard isSame else { throw BenchError("signet makes different codes with \(few) and with \(many) accounts") }
        let outcome = try await Race(
            ours: Contender("\(many) accounts") { try time($0, ["code", name], large) },
            reference: Contender("\(few) accounts") { try time($0, ["code", name], small) }, rounds: 201, slice: .microseconds(1)
        ).run()
        return Row("signet code with many accounts, beside few", outcome, .atMost(2))
    }

    private static func listing(_ large: SampleVault, _ small: SampleVault) throws -> Row {
        let times = try (0..<21).map { _ in
            let difference = try time(1, ["accounts"], large) - time(1, ["accounts"], small)
            return difference / .microseconds(many - few)
        }
        return Row("signet accounts, the time for each account", of: "\(many) accounts", times.median, atMost: accountLimit, "µs")
    }

    private static func code(_ name: String, _ vault: SampleVault) throws -> String? {
        try vault.output(of: vault.start(["code", name], output: .pipe))
    }

    private static func time(_ runs: Int, _ arguments: [String], _ vault: SampleVault) throws -> Duration {
        try ContinuousClock().measure { for _ in 0..<runs { try vault.start(arguments).wait() } }
    }
}
