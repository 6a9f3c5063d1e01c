import SignetCore
import Testing

@Suite("The period of a code")
struct OTPPeriodTests {
    @Test(
        "is a second or more, and fits where it is stored",
        arguments: [(-1, false), (0, false), (1, true), (Int(Int32.max), true), (Int.max, false)])
    func range(seconds: Int, exists: Bool) {
        #expect((OTPPeriod(seconds: seconds) != nil) == exists)
    }
}
