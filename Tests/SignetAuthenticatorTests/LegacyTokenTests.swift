import FRAuth
import SignetCore
import Testing

@Suite("The token type of the ForgeRock API")
struct LegacyTokenTests {
    @Test("A token compares by value, and its description and dump hide it")
    func tokenHidesValue() {
        let token = Token(value: Secret("AQIC5wM2LY4S".utf8), successUrl: "/am/console", realm: "/alpha")
        #expect(token == Token(value: Secret("AQIC5wM2LY4S".utf8), successUrl: "/am/console", realm: "/alpha"))
        #expect(token != Token(value: Secret("other".utf8), successUrl: "/am/console", realm: "/alpha"))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token)\(dumped)".contains("AQIC5w"))
    }
}
