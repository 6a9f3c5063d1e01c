// Only FRCore: the test compiles only if one import is enough.
import FRCore
import Testing

@Suite("An app that imports FRCore only")
struct ExportTests {
    @Test("An app gets data and compares an address")
    func namesFoundationTypesWithFRCoreOnly() throws {
        let data: Data? = "YQ".decodeURL()
        #expect(data == Data("a".utf8))
        let url = try #require(URL(string: "https://am.example.test/am"))
        #expect(url.isSame(url))
    }
}
