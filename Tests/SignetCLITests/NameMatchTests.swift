import Testing

@testable import signet

@Suite("The similarity of a typed text to a name")
struct NameMatchTests {
    @Test(
        "A text matches a name exactly, in another case, at the start of a word, in a part, or by its letters in order",
        arguments: [
            ("mira", "mira", NameMatch.exact), ("Mira", "mira", .sameLetters), ("HARBOR BANK", "Harbor Bank", .sameLetters),
            ("har", "Harbor Bank", .wordStart), ("bank", "Harbor Bank", .wordStart), ("harbor b", "Harbor Bank", .wordStart),
            ("example", "mira@example.com", .wordStart), ("mira", "Harbor:mira", .wordStart), ("47", "Library 4711", .wordStart),
            ("ank", "Harbor Bank", .part), ("11", "Library 4711", .part), ("r b", "Harbor Bank", .part),
            ("hbnk", "Harbor Bank", .subsequence), ("HB", "Harbor Bank", .subsequence),
            ("mcom", "mira@example.com", .subsequence),
            ("é", "Café", .part), ("É", "Café", .part),
        ])
    func ranksSimilarity(text: String, name: String, expected: NameMatch) {
        #expect(NameMatch(text, name) == expected)
    }

    @Test(
        "A text that is empty, or has a letter that the name lacks or has elsewhere, matches no name",
        arguments: [("", "Harbor"), ("", ""), ("harborx", "Harbor"), ("rh", "Harbor"), ("harbor", "mira"), ("aa", "Harbor")])
    func findsNoSimilarity(text: String, name: String) {
        #expect(NameMatch(text, name) == nil)
    }

    @Test("Only matches of the whole name are certain")
    func separatesFuzzyMatches() {
        let fuzzy = NameMatch.allCases.filter(\.isFuzzy)
        #expect(fuzzy == [.wordStart, .part, .subsequence])
    }

    @Test("Candidates are ranked by their best name, and keep their order when they are equally similar")
    func ranksCandidates() {
        let candidates = [
            ["Embankment"], ["x", "Harbor Bank"], ["Bank"], ["bank of", "BANK"], ["b-a-n-k"], ["mira"], ["Piggy Bank"],
        ]
        let ranked = NameMatch.ranked(candidates, by: "Bank") { $0 }
        #expect(
            ranked.map(\.candidate) == [
                ["Bank"], ["bank of", "BANK"], ["x", "Harbor Bank"], ["Piggy Bank"], ["Embankment"], ["b-a-n-k"],
            ])
        #expect(ranked.map(\.match) == [.exact, .sameLetters, .wordStart, .wordStart, .part, .subsequence])
        #expect(NameMatch.best("bank", []) == nil)
    }
}

@Suite("The list to pick an account from")
struct PickListTests {
    private static let names = ["Harbor:mira", "Harbor:noa", "Ferry Line:mira", "Library:4711"]
    private static let entries = names.map { PickList.Entry(title: "\($0) (totp)", names: [$0]) }

    @Test("A number picks its entry, and a text the only entry that is similar to it")
    func picksByNumberAndName() {
        for (line, position) in [("1", 0), (" 3 ", 2), ("4", 3), ("noa", 1), ("ferry", 2), ("4711", 3), ("LIB", 3), ("hrn", 1)] {
            var list = PickList(Self.entries)
            #expect(list.take(line) == .picked(position), "\(line)")
        }
    }

    @Test("A text that several entries are similar to shortens the list, whose numbers then are those of the shorter list")
    func narrowsList() {
        var list = PickList(Self.entries)
        #expect(list.take("mira") == .narrowed)
        #expect(list.lines.map(\.description) == ["  1  Harbor:mira (totp)", "  2  Ferry Line:mira (totp)"])
        #expect(list.take("") == .unchanged)
        #expect(list.take("2") == .picked(2))
    }

    @Test("A text that only an entry outside of the shorter list has is looked for in the whole list")
    func looksInWholeListAgain() {
        var list = PickList(Self.entries)
        #expect(list.take("mira") == .narrowed)
        #expect(list.take("noa") == .picked(1))
        #expect(list.take("zzz") == .notFound)
        #expect(list.take("0") == .notFound)
    }

    @Test("An empty line picks the only entry of a list")
    func picksOnlyEntry() {
        var list = PickList([Self.entries[3]])
        #expect(list.question.description.contains("Enter"))
        #expect(list.take("\r") == .picked(0))
    }

    @Test("A long list shows twenty entries and the number of the others, and only shown numbers pick")
    func limitsList() {
        var list = PickList((0..<45).map { PickList.Entry(title: "a\($0)", names: ["a\($0)"]) })
        #expect(list.lines.count == 21)
        #expect(list.lines.first?.description == "   1  a0")
        #expect(list.lines.last?.description == "  and 25 more accounts; type more of the name")
        #expect(list.take("20") == .picked(19))
        #expect(list.take("44") == .picked(44))
    }

    @Test("Control characters in the names of a list are escaped")
    func escapesNamesInList() {
        let list = PickList([PickList.Entry(title: "\u{1B}[2J\nmira", names: [])])
        #expect(list.lines.map(\.description) == ["  1  \\u{1B}[2J\\nmira"])
    }
}
