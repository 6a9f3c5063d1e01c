// Only PingOidc: the test compiles only if one import is enough.
import PingOidc
import Testing

@Suite("An app that imports PingOidc only")
struct ExportTests {
    @Test("An app handles an error as the type of Foundation that its declaration names")
    func handlesErrorWithPingOidcOnly() {
        let error: any LocalizedError = OidcError.unknown(message: "a reason")
        #expect(error.errorDescription?.contains("a reason") == true)
    }
}
