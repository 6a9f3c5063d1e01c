import Testing

@testable import signet

@Suite("Failures of repeated work of the agent")
struct RepeatedFailureTests {
    @Test("A failure is reported once, and again after a success")
    func reportsFailureOnce() {
        var failure = RepeatedFailure()
        let first = [failure.begins(), failure.begins(), failure.isFailing]
        #expect(first == [true, false, true])
        let success = [failure.ends(), failure.ends(), failure.begins()]
        #expect(success == [true, false, true])
    }
}
