import Foundation
import SignetCore
import Testing

@Suite("OATH settings")
struct OATHSettingsTests {
    @Test("Reserving gives each counter once, in order")
    func reservesEachCounterOnce() throws {
        var settings = OATHSettings(secret: try Sample.oathSecret, factor: .counter(next: 7))
        var codes: [String] = []
        for counter in 7..<1007 as Range<UInt64> {
            let reserved = settings.reserveCounter()
            #expect(reserved?.factor == .counter(next: counter))
            #expect(settings.factor == .counter(next: counter + 1))
            codes.append(try #require(reserved).code(at: Sample.newYear2025).digits)
        }
        #expect(codes.prefix(2) == ["099169", "802135"])
        let expected = (7..<1007).map { HOTP.code(secret: settings.secret, counter: $0) }
        #expect(codes == expected)
    }

    @Test("Reserving changes only the counter")
    func reservingChangesOnlyCounter() throws {
        let before = OATHSettings(secret: try Sample.oathSecret, algorithm: .sha512, digits: .eight, factor: .counter(next: 3))
        var after = before
        let reserved = after.reserveCounter()
        #expect(reserved == before)
        after.factor = before.factor
        #expect(after == before)
    }

    @Test("The last counter is never given, because its successor cannot be stored")
    func neverGivesLastCounter() throws {
        var settings = OATHSettings(secret: try Sample.oathSecret, factor: .counter(next: .max - 1))
        let reserved = (0..<3).map { _ in settings.reserveCounter()?.factor }
        #expect(reserved == [.counter(next: .max - 1), nil, nil])
        #expect(settings.factor == .counter(next: .max))
    }

    @Test("A TOTP mechanism has no counter to reserve")
    func totpHasNoCounter() throws {
        var settings = OATHSettings(secret: try Sample.oathSecret)
        let before = settings
        let reserved = settings.reserveCounter()
        #expect(reserved == nil)
        #expect(settings == before)
    }

    @Test("The defaults are SHA-1, six digits and thirty seconds")
    func oathDefaults() throws {
        let settings = OATHSettings(secret: try Sample.oathSecret)
        #expect(settings.algorithm == .sha1)
        #expect(settings.digits == .six)
        #expect(settings.factor == .time(period: .thirtySeconds))
        #expect(settings.encoding == .decimal)
    }

    @Test("Settings of Steam generate five letters and digits of Steam's alphabet, and a verifier accepts them")
    func generatesSteamCodes() throws {
        let settings = OATHSettings.steam(secret: Secret(try Base32.decode("BUWMP4DZCFV2N7AVRDWNFVHDFFUZENT6")))
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        // From `accounts.json` of the exports of real programs.
        #expect(settings.code(at: time).digits == "M5B6W")
        for step in 0..<200 {
            let code = settings.code(at: time.addingTimeInterval(30 * Double(step))).digits
            let isOfAlphabet = code.allSatisfy { "23456789BCDFGHJKMNPQRTVWXY".contains($0) }
            #expect(code.utf8.count == 5 && isOfAlphabet)
        }
        var verifier = OATHVerifier(settings: settings)
        let outcomes = ["M5B6X", "M5B6W", "M5B6W"].map { verifier.verify($0, at: time) }
        #expect(outcomes == [.wrong, .accepted, .replayed])
    }

    @Test("A code of Steam has five characters, whatever number of digits the settings have")
    func ignoresDigitsOfSteam() throws {
        var settings = OATHSettings.steam(secret: try Sample.oathSecret)
        let code = settings.code(at: Sample.newYear2025).digits
        settings.digits = .eight
        #expect(settings.code(at: Sample.newYear2025).digits == code)
    }
}
