import Foundation
import SignetCore
import Testing

@Suite("Account policies")
struct PolicyTests {
    private struct Fixed: AccountPolicy {
        let name: String
        let isMet: Bool
        func isMet(_ parameters: JSONValue) async -> Bool { isMet }
    }

    private struct Sensor: BiometricAvailability {
        let isThere: Bool
        func isAvailable() async -> Bool { isThere }
    }

    private static let policies = AccountPolicies([
        Fixed(name: "a", isMet: true), Fixed(name: "b", isMet: false), Fixed(name: "c", isMet: false),
    ])

    @Test(
        "Policies are evaluated in registration order, and unknown ones are ignored",
        arguments: [([], nil), (["a"], nil), (["c", "b", "a"], "b"), (["c"], "c"), (["x"], nil), (["x", "c"], "c")]
            as [([String], String?)])
    func findsFirstViolatedPolicy(names: [String], expected: String?) async {
        let account = Dictionary(uniqueKeysWithValues: names.map { ($0, JSONValue.object([:])) })
        #expect(await Self.policies.violated(account) == expected)
    }

    @Test("A policy with a registered name replaces the one with that name in its position")
    func replacesPolicyByName() async {
        let policies = Self.policies.adding([Fixed(name: "b", isMet: true)])
        #expect(policies.policies.map(\.name) == ["a", "b", "c"])
        #expect(await policies.violated(["b": .null]) == nil)
    }

    @Test("A policy that is not met locks an account, and a manual lock takes precedence")
    func locksAccountByPolicy() async {
        let id = AccountID(issuer: "x", accountName: "y")
        var account = Account(id: id, timeAdded: Date(timeIntervalSince1970: 0), policies: ["b": .null])
        #expect(await Self.policies.lock(on: account) == .byPolicy("b"))
        #expect(await AccountPolicies.none.lock(on: account) == nil)
        account.lockingPolicy = "mine"
        #expect(await Self.policies.lock(on: account) == .manual(policy: "mine"))
    }

    @Test("The policy biometricAvailable is met only if a sensor reports that biometrics are available")
    func biometricAvailablePolicy() async {
        #expect(await !BiometricAvailablePolicy().isMet(.object([:])))
        #expect(await !BiometricAvailablePolicy(Sensor(isThere: false)).isMet(.object([:])))
        #expect(await BiometricAvailablePolicy(Sensor(isThere: true)).isMet(.object([:])))
    }

    private static func readings(_ change: (inout TamperingReadings) -> Void) -> TamperingReadings {
        var readings = TamperingReadings()
        change(&readings)
        return readings
    }

    /// Readings of the system, and the signs of tampering in them.
    static let tamperingCases: [(String, TamperingReadings, [TamperingSignal.Name])] = [
        ("nothing", TamperingReadings(), []),
        ("no tracer", readings { $0.tracer = 0 }, []), ("a tracer", readings { $0.tracer = 7 }, [.debuggerAttached]),
        ("LD_PRELOAD", readings { $0.environment = ["LD_PRELOAD", "HOME"] }, [.preloadedLibrary]),
        ("LD_AUDIT", readings { $0.environment = ["LD_AUDIT"] }, [.preloadedLibrary]),
        ("ld.so.preload", readings { $0.hasSystemPreload = true }, [.systemPreload]),
        ("0755", readings { $0.executable = [.init(path: "/bin/x", mode: 0o755)] }, []),
        ("0775", readings { $0.executable = [.init(path: "/bin/x", mode: 0o775)] }, [.executableOpenToGroup]),
        ("0777", readings { $0.executable = [.init(path: "/bin/x", mode: 0o777)] }, [.executableOpenToAll]),
        (
            "its directory",
            readings { $0.executable = [.init(path: "/bin/x", mode: 0o755), .init(path: "/bin", mode: 0o1777)] },
            [.executableOpenToAll]
        ),
        (
            "a library in /tmp", readings { $0.libraryDirectories = [.init(path: "/tmp", mode: 0o1777)] },
            [.libraryFromSharedDirectory]
        ),
        ("root", readings { $0.isRoot = true }, []), ("a container", readings { $0.isInContainer = true }, []),
        (
            "root in a container",
            readings {
                $0.isRoot = true
                $0.isInContainer = true
            }, [.rootInContainer]
        ),
        ("ptrace 0", readings { $0.ptraceScope = 0 }, [.tracingAllowed]), ("ptrace 1", readings { $0.ptraceScope = 1 }, []),
        ("core dumps", readings { $0.allowsCoreDumps = true }, [.coreDumpsAllowed]),
    ]

    @Test("The policy deviceTampering detects, weighs and explains each sign separately", arguments: tamperingCases)
    func detectsEachTamperingSign(name: String, readings: TamperingReadings, expected: [TamperingSignal.Name]) {
        #expect(readings.signals.map(\.name) == expected)
        let incomplete = readings.signals.filter { !(0.1...1).contains($0.weight) || $0.reason.isEmpty }
        #expect(incomplete.isEmpty)
    }

    /// The weights of the detected signs, the issuer's parameters, and whether the policy is met.
    static let scores: [([Double], JSONValue, Bool)] = [
        ([], .object([:]), true), ([0.5], .object([:]), true), ([1], .object([:]), false), ([0.8, 0.8], .object([:]), false),
        ([0.8], .object(["score": .number(0.8)]), false), ([0.5], .object(["score": .number(0.8)]), true),
        ([], .object(["score": .integer(0)]), false), ([0.3], .object(["score": .string("0.3")]), false),
        ([0.3], .object(["score": .bool(true)]), true), ([0.9], .null, true),
    ]

    @Test("The policy deviceTampering limits the sum to 1 and is met below the issuer's score", arguments: scores)
    func tamperingScore(weights: [Double], parameters: JSONValue, isMet: Bool) {
        let score = weights.map { TamperingSignal(.tracingAllowed, weight: $0, reason: "x") }.score
        #expect(score <= 1)
        #expect((score < DeviceTamperingPolicy.threshold(in: parameters)) == isMet)
    }
}

@Suite("The Date header")
struct HTTPDateTests {
    @Test(
        "A Date header is read and written in the form that servers must send",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Thu, 29 Feb 2024 23:59:59 GMT", 1_709_251_199), ("Fri, 01 Mar 2024 00:00:00 GMT", 1_709_251_200),
            ("Sat, 21 Nov 2026 10:40:10 GMT", 1_795_257_610), ("Mon, 01 Mar 2100 00:00:00 GMT", 4_107_542_400),
        ])
    func readsHTTPDate(text: String, seconds: Double) {
        #expect(HTTPDate.date(from: text)?.timeIntervalSince1970 == seconds)
        #expect(HTTPDate.text(of: Date(timeIntervalSince1970: seconds + 0.9)) == text)
    }

    @Test("A date from 1970 to 9999 is unchanged after writing and reading, and other dates are clamped")
    func httpDateRoundTrip() {
        for day in stride(from: 0, to: 2_932_896, by: 17) {
            let date = Date(timeIntervalSince1970: Double(day * 86_400 + day % 86_400))
            #expect(HTTPDate.date(from: HTTPDate.text(of: date)) == date)
        }
        #expect(HTTPDate.text(of: .distantPast) == "Thu, 01 Jan 1970 00:00:00 GMT")
        #expect(HTTPDate.text(of: Date(timeIntervalSince1970: 1e18)) == "Fri, 31 Dec 9999 23:59:59 GMT")
    }

    @Test(
        "A Date header in any other form is ignored",
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 UTC",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1969 08:49:37 GMT", "Sun, 06 Nov 1994 08:49 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT",
        ])
    func ignoresOtherDateForms(text: String) {
        #expect(HTTPDate.date(from: text) == nil)
    }
}
