// Only PingCommons: the test compiles only if one import is enough.
import PingCommons
import Testing

@Suite("An app that imports PingCommons only")
struct ExportTests {
    @Test("An app handles an error as the type of Foundation that its declaration names")
    func handlesErrorWithPingCommonsOnly() {
        let error: any LocalizedError = JwtError.failToConvertData("claim")
        #expect(error.errorDescription?.contains("claim") == true)
    }
}
