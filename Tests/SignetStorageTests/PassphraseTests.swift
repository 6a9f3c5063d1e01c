import SignetCore
import SignetStorage
import SignetTesting
import Testing

@Suite("A passphrase")
struct PassphraseTests {
    private static let cheap = ScryptCost(logRounds: 10) ?? .default
    private let dataKey = Secret.random(byteCount: 32)
    private let context = Array("a vault".utf8)

    private func protector(_ passphrase: String) -> PassphraseProtector {
        PassphraseProtector(cost: Self.cheap) { Secret(passphrase.utf8) }
    }

    @Test(
        "A passphrase opens the data key it sealed at any allowed cost",
        arguments: [(10, 8, 1), (11, 1, 16), (12, 16, 2), (17, 8, 1)])
    func passphraseOpensAtAnyCost(rounds: Int, size: Int, parallelism: Int) throws {
        let cost = try #require(ScryptCost(logRounds: rounds, blockSize: size, parallelism: parallelism))
        let wrapped = try PassphraseProtector(cost: cost) { Secret("correct horse".utf8) }.wrap(dataKey, context: context)
        #expect(wrapped.count == 80)
        #expect(wrapped.prefix(4) == [1, UInt8(rounds), UInt8(size), UInt8(parallelism)])
        // The opener's own cost does not matter: the wrapping states its cost.
        #expect(try protector("correct horse").unwrap(wrapped, context: context) == dataKey)
    }

    @Test("A passphrase uses the default cost unless the caller sets another")
    func usesDefaultCost() throws {
        let wrapped = try PassphraseProtector { Secret("correct horse".utf8) }.wrap(dataKey, context: context)
        #expect(wrapped.prefix(4) == [1, 17, 8, 1])
        #expect(ScryptCost.default.byteCount == 128 << 20)
    }

    @Test("A passphrase derives the key of RFC 7914 and the documented layout")
    func passphraseMatchesLayout() throws {
        // Computed with Python: hashlib.scrypt and cryptography's AESGCM, from docs/reference/key-protector-formats.md alone.
        let wrapped = try Base64.decode(Self.knownWrapping)
        let opened = try protector("caf\u{E9} \u{1F511}").unwrap(wrapped, context: Array("context".utf8))
        #expect(opened == Secret(UInt8(0)..<32))
    }

    @Test(
        "A different passphrase does not open the data key",
        arguments: ["correct hors", "correct horse ", "Correct horse", "correct horse\n"])
    func anotherPassphraseDoesNotOpen(passphrase: String) throws {
        let wrapped = try protector("correct horse").wrap(dataKey, context: context)
        let refusal = code { try protector(passphrase).unwrap(wrapped, context: context) }
        #expect(refusal == .keyMismatch)
    }

    @Test("A passphrase opens a data key only in the context it was sealed with")
    func bindsPassphraseToContext() throws {
        let wrapped = try protector("correct horse").wrap(dataKey, context: context)
        let refusal = code { try protector("correct horse").unwrap(wrapped, context: context + [0]) }
        #expect(refusal == .keyMismatch)
    }

    @Test("An empty passphrase is refused for sealing and for opening")
    func refusesEmptyPassphrase() throws {
        let wrapped = try protector("correct horse").wrap(dataKey, context: context)
        let wrapRefusal = code { try protector("").wrap(dataKey, context: context) }
        #expect(wrapRefusal == .invalid)
        let unwrapRefusal = code { try protector("").unwrap(wrapped, context: context) }
        #expect(unwrapRefusal == .keyUnavailable)
    }

    @Test(
        "A passphrase is the same in composed and decomposed Unicode",
        arguments: [
            ("caf\u{E9}", "cafe\u{301}"), ("\u{C5}ngstr\u{F6}m", "A\u{30A}ngstro\u{308}m"), ("\u{212B}", "\u{C5}"),
            ("\u{AC00}", "\u{1100}\u{1161}"), ("q\u{307}\u{323}", "q\u{323}\u{307}"),
        ])
    func normalizesPassphrase(composed: String, decomposed: String) throws {
        try #require(Array(composed.utf8) != Array(decomposed.utf8))
        let wrapped = try protector(composed).wrap(dataKey, context: context)
        #expect(try protector(decomposed).unwrap(wrapped, context: context) == dataKey)
        let refusal = code { try protector("cafe").unwrap(wrapped, context: context) }
        #expect(refusal == .keyMismatch)
    }

    @Test("Compatibility characters that look alike make different passphrases")
    func distinguishesCompatibilityCharacters() throws {
        let wrapped = try protector("\u{FB01}sh").wrap(dataKey, context: context)
        let refusal = code { try protector("fish").unwrap(wrapped, context: context) }
        #expect(refusal == .keyMismatch)
    }

    @Test("A passphrase that is not valid UTF-8 is used byte by byte")
    func usesBinaryPassphrase() throws {
        let bytes: [UInt8] = [0xFF, 0x00, 0xE9]
        let wrapped = try PassphraseProtector(cost: Self.cheap) { Secret(bytes) }.wrap(dataKey, context: context)
        let same = PassphraseProtector { Secret(bytes) }
        #expect(try same.unwrap(wrapped, context: context) == dataKey)
        let shorter = PassphraseProtector { Secret(bytes.dropLast()) }
        let refusal = code { try shorter.unwrap(wrapped, context: context) }
        #expect(refusal == .keyMismatch)
    }

    @Test("The passphrase is requested once for each operation, and an error of the prompt is rethrown")
    func requestsPassphraseOnce() throws {
        let count = Mutex(0)
        let asked = PassphraseProtector(cost: Self.cheap) { () throws(StoreError) in
            count.withLock { $0 += 1 }
            return Secret("correct horse".utf8)
        }
        let wrapped = try asked.wrap(dataKey, context: context)
        _ = try asked.unwrap(wrapped, context: context)
        let timesAsked = count.withLock { $0 }
        #expect(timesAsked == 2)
        let silent = PassphraseProtector { () throws(StoreError) -> Secret in
            throw StoreError(.keyUnavailable, "ask", "no user is there")
        }
        #expect { try silent.unwrap(wrapped, context: context) } throws: { ($0 as? StoreError)?.reason == "no user is there" }
    }

    @Test(
        "A header with an invalid or excessive cost is refused before the passphrase is requested",
        arguments: [
            [1, 63, 8, 1], [1, 255, 255, 255], [1, 21, 8, 1], [1, 20, 16, 1], [1, 20, 8, 16], [1, 9, 8, 1], [1, 0, 8, 1],
            [1, 17, 0, 1], [1, 17, 17, 1], [1, 17, 8, 0], [1, 17, 8, 17], [0, 17, 8, 1],
        ] as [[UInt8]])
    func refusesExcessiveCost(start: [UInt8]) throws {
        let wrapped = start + [UInt8](repeating: 0, count: 76)
        let never = PassphraseProtector { () throws(StoreError) in
            Issue.record("the passphrase was requested")
            return Secret("correct horse".utf8)
        }
        let refusal = code { try never.unwrap(wrapped, context: context) }
        #expect(refusal == .corrupt)
        #expect(
            ScryptCost(logRounds: Int(start[1]), blockSize: Int(start[2]), parallelism: Int(start[3])) == nil || start[0] == 0)
    }

    @Test("A passphrase's wrapping with any bit changed or another length is refused")
    func refusesTamperedPassphraseWrapping() throws {
        try expectTamperProof(protector("correct horse"), dataKey: dataKey)
    }

    private static let knownWrapping =
        "AQwIAsjJysvMzc7P0NHS09TV1tdkZWZnaGlqa2xtbm84_EXFKGdsFjvbMpH6BrbglycJH5wXpA_o5jaJ1dQuvPP0IeM9Ss7iFjQE"
        + "zDLgBa0"
}

/// The code of the error that `body` throws; nil when it throws none.
func code<Value>(_ body: () throws -> Value) -> StoreError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}

/// Changes each bit of a key protector's wrapping, cuts and extends it, and expects that no variant opens.
func expectTamperProof(
    _ protector: any KeyProtector, dataKey: Secret, location: SourceLocation = #_sourceLocation
) throws {
    let context = Array("a vault".utf8)
    let refusals: Set<StoreError.Code> = [.corrupt, .keyMismatch, .newerFormat]
    let wrapped = try protector.wrap(dataKey, context: context)
    try #require(try protector.unwrap(wrapped, context: context) == dataKey, sourceLocation: location)
    func expectRefused(_ changed: [UInt8], _ comment: Comment) {
        let code = code { try protector.unwrap(changed, context: context) }
        #expect(code.map(refusals.contains) == true, comment, sourceLocation: location)
    }
    for bit in 0..<(wrapped.count * 8) {
        var changed = wrapped
        changed[bit / 8] ^= 1 << (bit % 8)
        expectRefused(changed, "bit \(bit % 8) of byte \(bit / 8)")
    }
    for length in 0..<wrapped.count { expectRefused(Array(wrapped[..<length]), "\(length) bytes") }
    expectRefused(wrapped + [0], "one byte more")
}
