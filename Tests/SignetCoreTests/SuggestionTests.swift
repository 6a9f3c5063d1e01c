import SignetCore
import Testing

@Suite("Suggestions for mistyped names")
struct SuggestionTests {
    @Test(
        "The distance is the number of characters to change, add or remove, without regard to case",
        arguments: [
            ("code", "cod", 1), ("Code", "code", 0), ("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("é", "e", 1),
        ])
    func measuresDistance(first: String, second: String, distance: Int) {
        #expect(first.distance(to: second) == distance)
        #expect(second.distance(to: first) == distance)
    }

    @Test("The nearest name differs in one character for each three of it, and in two at most")
    func findsNearestName() {
        let names = ["code", "accounts", "push"]
        #expect(names.nearest(to: "cod") == "code")
        #expect(names.nearest(to: "CODE") == "code")
        #expect(names.nearest(to: "acounts") == "accounts")
        #expect(names.nearest(to: "acouns") == "accounts")
        #expect(names.nearest(to: "acous") == nil)
        #expect(names.nearest(to: "co") == nil)
        #expect(names.nearest(to: String(repeating: "c", count: 65)) == nil)
    }
}
