import Foundation
import SignetCore
import Testing

@Suite("Validity of a one-time code")
struct OneTimeCodeTests {
    /// The code of the step from 1735689600 until 1735689630.
    private func timeCode() throws -> OneTimeCode {
        OATHSettings(secret: try Sample.oathSecret).code(at: Sample.newYear2025.addingTimeInterval(12.5))
    }

    @Test(
        "A TOTP code is valid from the start of its step until just before its end",
        arguments: [
            (-0.001, false, 31), (0, true, 30), (0.5, true, 30), (12.5, true, 18), (29, true, 1), (29.999, true, 1),
            (30, false, 0),
            (31, false, 0), (1e6, false, 0),
        ])
    func totpCodeValidity(offset: Double, isValid: Bool, secondsLeft: Int) throws {
        let date = Sample.newYear2025.addingTimeInterval(offset)
        #expect(try timeCode().isValid(at: date) == isValid)
        #expect(try timeCode().secondsLeft(at: date) == secondsLeft)
    }

    @Test("A TOTP code contains its step")
    func totpCodeBasis() throws {
        let end = Sample.newYear2025.addingTimeInterval(30)
        #expect(try timeCode().basis == .time(start: Sample.newYear2025, end: end))
    }

    @Test("A TOTP code changes only with the step")
    func totpCodeChangesWithStep() throws {
        let settings = OATHSettings(secret: try Sample.oathSecret)
        let codes = (0..<90).map { settings.code(at: Sample.newYear2025.addingTimeInterval(Double($0))).digits }
        #expect(codes[0] == "867205")
        for (second, code) in codes.enumerated() {
            #expect((code == codes[second / 30 * 30]), "second \(second)")
        }
        #expect(Set(codes).count == 3)
    }

    @Test("An HOTP code has no expiry")
    func hotpCodeHasNoExpiry() throws {
        let settings = OATHSettings(secret: try Sample.oathSecret, factor: .counter(next: 7))
        let code = settings.code(at: Sample.newYear2025)
        #expect(code.digits == "099169")
        #expect(code.basis == .counter(7))
        for date in [Date.distantPast, Sample.newYear2025, .distantFuture] {
            #expect(code.isValid(at: date))
            #expect(code.secondsLeft(at: date) == nil)
        }
    }
}
