import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@Suite("signet code")
struct CodeTests {
    @Test("signet code prints the digits and a line end, and nothing else", arguments: ["SHA1", "SHA256", "SHA512"], [4, 6, 8])
    func printsDigitsOnly(algorithm: String, digits: Int) async throws {
        try await CommandLineFixture.with { cli in
            let (hash, length) = (try #require(OTPAlgorithm(spelling: algorithm)), try #require(OTPDigits(digits)))
            let period = try #require(OTPPeriod(seconds: 60))
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=41&algorithm=\(algorithm)&digits=\(digits)"))
                .succeeds()
            try await cli.signet("enroll", OATHSample.uri("totp", "&period=60&algorithm=\(algorithm)&digits=\(digits)"))
                .succeeds()

            let hotp = try await cli.signet("code", "mira", "--type", "hotp").succeeds()
            let expected = try HOTP.code(secret: OATHSample.secret, counter: 41, digits: length, algorithm: hash)
            #expect(hotp.output == expected + "\n" && hotp.errors == "")

            let start = Date()
            let totp = try await cli.signet("code", "mira", "--type", "totp").succeeds()
            let possible = try [start, Date()].map {
                try TOTP.code(secret: OATHSample.secret, at: $0, period: period, digits: length, algorithm: hash) + "\n"
            }
            #expect(possible.contains(totp.output) && totp.errors == "")
        }
    }

    @Test("signet code --json reports the account, the counter and how long the code is valid")
    func describesCodeAsJSON() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=7")).succeeds()
            let code = try await cli.signet("code", "mira", "--json").succeeds().json
            let expected: [String: JSONValue] = [
                "code": .string("099169"), "type": .string("hotp"), "issuer": .string("Harbor"), "account": .string("mira"),
                "counter": .integer(7),
            ]
            #expect(code == .object(expected))
            try await cli.signet("enroll", OATHSample.uri(account: "noa")).succeeds()
            let timed = try await cli.signet("code", "noa", "--json").succeeds().json
            let members = timed.object.map { Array($0.keys) } ?? []
            #expect(Set(members) == ["code", "type", "issuer", "account", "secondsLeft", "validUntil"])
            let secondsLeft = try #require(timed["secondsLeft"]?.lenientInteger)
            #expect(secondsLeft >= 0 && secondsLeft <= 30)
        }
    }

    @Test("A code that cannot be written because standard output is full or closed exits with 74")
    func reportsUnwritableOutput() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp")).succeeds()
            func code(_ redirection: String) async throws -> Outcome {
                let words = ["-c", "exec \"$0\" code mira \(redirection)", Program.path]
                return try await cli.start(words, program: "/bin/sh").end()
            }
            try await code("> /dev/full").fails(74, "standard output", "No space left")
            try await code(">&-").fails(74, "standard output")
            #expect(try await cli.signet("code", "mira").line == HOTP.code(secret: OATHSample.secret, counter: 2))
        }
    }

    // MARK: Account selection

    @Test("signet code finds an account by its name, issuer, issuer:account or id, in any case")
    func selectsAccountByName() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=0")).succeeds()
            try await cli.signet("enroll", OATHSample.uri("hotp", issuer: "Other", account: "noa", "&counter=500")).succeeds()
            let id = try #require(try await cli.accounts().first?["mechanisms"]?.array?.first?["id"]?.string)
            for (counter, name) in ["mira", "MIRA", "Harbor", "hARBOR", "Harbor:mira", "harbor:MIRA", id, id.lowercased()]
                .enumerated()
            {
                let code = try await cli.signet("code", name).succeeds()
                #expect(code.line == (try HOTP.code(secret: OATHSample.secret, counter: UInt64(counter))), "\(name)")
            }
        }
    }

    @Test("An ambiguous account name exits with 65 and a list, an unknown one with 66, and no code is used up")
    func refusesUnclearName() async throws {
        try await CommandLineFixture.with { cli in
            for (issuer, account) in [("Harbor", "mira"), ("Harbor", "noa"), ("Other", "mira")] {
                try await cli.signet("enroll", OATHSample.uri("hotp", issuer: issuer, account: account)).succeeds()
            }
            let byIssuer = try await cli.signet("code", "harbor")
            byIssuer.fails(65, "Harbor:mira (hotp)", "Harbor:noa (hotp)")
            #expect(!byIssuer.errors.contains("Other:mira"))
            try await cli.signet("code", "mira").fails(65, "Harbor:mira", "Other:mira")
            for name in ["nobody", "Harbor:", "mir", ""] { try await cli.signet("code", name).fails(66, "'\(name)'") }
            try await cli.signet("code", "mira", "--type", "totp").fails(66)
            let json = try await cli.signet("code", "--json", "mira")
            #expect(json.jsonError?["code"]?.string == "ambiguous")
            #expect(try await cli.signet("code", "Other:mira").line == HOTP.code(secret: OATHSample.secret, counter: 0))
        }
    }

    @Test("signet code for an account that only takes push messages exits with 66")
    func refusesPushOnlyAccount() async throws {
        let server = try FakePushServer()
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", server.uri()).succeeds()
            try await cli.signet("code", "mira").fails(66, "'mira'")
        }
    }

    // MARK: Counter-based codes

    @Test("A HOTP counter continues from process to process, up to its maximum")
    func advancesCounterAcrossProcesses() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=7")).succeeds()
            for counter in UInt64(7)..<11 {
                #expect(try await cli.signet("code", "mira").line == HOTP.code(secret: OATHSample.secret, counter: counter))
            }
            let last = UInt64.max - 1
            try await cli.signet("enroll", OATHSample.uri("hotp", account: "noa", "&counter=\(last)")).succeeds()
            #expect(try await cli.signet("code", "noa").line == HOTP.code(secret: OATHSample.secret, counter: last))
            try await cli.signet("code", "noa").fails(65, "counter")
            try await cli.signet("code", "noa").fails(65, "counter")
        }
    }

    @Test("Twenty processes at the same time print the next twenty codes of the counter, all different")
    func countsInParallelProcesses() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=100")).succeeds()
            let codes = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<20 { group.addTask { try await cli.start(["code", "mira"]).end().succeeds().line } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let expected = try (UInt64(100)..<120).map { try HOTP.code(secret: OATHSample.secret, counter: $0) }
            #expect(Set(codes) == Set(expected))
            #expect(Set(codes).count == 20)
        }
    }

    @Test("A process killed at any moment never makes a HOTP counter repeat a code")
    func neverRepeatsCodeAfterKill() async throws {
        try await CommandLineFixture.with { cli in
            try await cli.signet("enroll", OATHSample.uri("hotp", "&counter=0&digits=8")).succeeds()
            let known = try Dictionary(
                uniqueKeysWithValues: (UInt64(0)..<200).map {
                    (try HOTP.code(secret: OATHSample.secret, counter: $0, digits: .eight), $0)
                })
            var seen: [UInt64] = []
            for round in 0..<40 {
                let child = try cli.start(["code", "mira"])
                // A fixed delay, so that it does not depend on the load of the machine: alone, a run takes about 25 ms.
                try await Task.sleep(for: .milliseconds(5 * (round % 20)))
                child.signal(SIGKILL)
                let outcome = await child.end()
                #expect(outcome.status == 0 || outcome.status == -SIGKILL, "\(outcome.errors)")
                if !outcome.output.isEmpty { seen.append(try #require(known[outcome.line], "no code of this account")) }
            }
            seen.append(try #require(known[try await cli.signet("code", "mira").succeeds().line]))
            #expect(seen == seen.sorted() && Set(seen).count == seen.count, "\(seen)")
        }
    }
}
