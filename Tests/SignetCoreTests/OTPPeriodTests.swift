import SignetCore
import Testing

@Suite("The period of a one-time code")
struct OTPPeriodTests {
    @Test(
        "A period is at least one second and fits its stored form",
        arguments: [(-1, false), (0, false), (1, true), (Int(Int32.max), true), (Int.max, false)])
    func periodRange(seconds: Int, exists: Bool) {
        #expect((OTPPeriod(seconds: seconds) != nil) == exists)
    }
}
