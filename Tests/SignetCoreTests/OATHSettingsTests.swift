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
    }
}
