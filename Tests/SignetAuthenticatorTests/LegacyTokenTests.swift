import FRAuth
import SignetCore
import Testing

@Suite("A token under the ForgeRock name")
struct LegacyTokenTests {
    @Test("compares by value and shows none of it")
    func hidden() {
        let token = Token(value: Secret("AQIC5wM2LY4S".utf8), successUrl: "/am/console", realm: "/alpha")
        #expect(token == Token(value: Secret("AQIC5wM2LY4S".utf8), successUrl: "/am/console", realm: "/alpha"))
        #expect(token != Token(value: Secret("other".utf8), successUrl: "/am/console", realm: "/alpha"))
        var dumped = ""
        dump(token, to: &dumped)
        #expect(!"\(token)\(dumped)".contains("AQIC5w"))
    }
}
