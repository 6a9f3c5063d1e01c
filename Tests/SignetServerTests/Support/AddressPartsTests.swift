import SignetCore
import Testing

@testable import SignetServer

@Suite("Parts of addresses and cookies")
struct AddressPartsTests {
    @Test(
        "An address has a path, and a query after the first question mark, both before the fragment",
        arguments: [
            ("", "", nil), ("/a", "/a", nil), ("/a?", "/a", ""), ("/a?b=c?d", "/a", "b=c?d"), ("/a#?b", "/a", nil),
            ("/a?b#c?d#e", "/a", "b"), ("?", "", ""), ("/ü?ö=%20", "/ü", "ö=%20"), ("#", "", nil),
        ] as [(String, String, String?)])
    func splitsAddress(address: String, path: String, query: String?) {
        let parts = AddressParts(address[...])
        #expect(String(parts.path) == path && parts.query.map(String.init) == query)
        #expect(AddressParts("x\(address)".dropFirst()) == parts)
    }

    @Test("Fields are the parts between separators that are not empty, and halves those around the first separator")
    func splitsFields() {
        #expect("a=1&&b=2&".fields(separatedBy: UInt8(ascii: "&")) == ["a=1", "b=2"])
        #expect("".fields(separatedBy: UInt8(ascii: "&")).isEmpty)
        let halves = "a=b=c".halves(at: UInt8(ascii: "="))
        #expect(halves?.before == "a" && halves?.after == "b=c")
        let none = "abc".halves(at: UInt8(ascii: "="))
        #expect(none == nil)
        let empty = "=".halves(at: UInt8(ascii: "="))
        #expect(empty?.before == "" && empty?.after == "")
    }
}
