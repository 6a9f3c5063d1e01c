import SignetCore
import Testing

@testable import SignetServer

@Suite("Query filters")
struct QueryFilterTests {
    private static let object: JSONValue = .object([
        "name": .string("Mira"), "age": .integer(30), "height": .number(1.7), "active": .bool(true),
        "roles": .array([.string("admin"), .string("tester")]),
        "address": .object(["city": .string("Ulm")]),
    ])

    private static func value(_ path: String) -> JSONValue? {
        path.split(separator: "/").reduce(JSONValue?.some(object)) { $0?[String($1)] }
    }

    static let filters: [(String, Bool)] = [
        ("true", true), ("false", false), ("!(true)", false), ("! true", false), ("/name pr", true), ("name pr", true),
        ("/phone pr", false), ("!(/phone pr)", true), (#"/name eq "mira""#, true), (#"/name eq 'Mira'"#, true),
        (#"/name eq "Noa""#, false), (#"/name co "IR""#, true), (#"/name sw "mi""#, true), (#"/name sw "ra""#, false),
        ("/age eq 30", true), ("/age gt 30", false), ("/age ge 30", true), ("/age lt 31", true), ("/age le 29.5", false),
        ("/height lt 2", true), ("/active eq true", true), ("/active eq false", false), (#"/age eq "30""#, false),
        ("/phone eq 1", false), ("/phone lt 1", false), (#"/roles eq "admin""#, true), (#"/roles co "test""#, true),
        (#"/roles eq "user""#, false), (#"/address/city eq "ulm""#, true), ("/address/street pr", false),
        ("true or false and false", true), ("(true or false) and false", false), ("!(/phone pr) and /age eq 30", true),
        (#"/name eq "a\"b""#, false), (#"(/age gt 20 and (/age lt 40)) or /name eq "x""#, true),
    ]

    @Test("A filter matches an object as its operators say", arguments: filters)
    func filterMatches(text: String, isTrue: Bool) throws {
        let filter = try QueryFilter(text)
        #expect(filter.matches(Self.value) == isTrue)
    }

    static let wrong: [(String, QueryFilterError)] = [
        ("", .missing("a condition")), ("/name", .missing("an operator after `/name`")), ("/name xx 1", .unexpected("xx")),
        ("/name eq", .missing("a value after `eq`")), ("/name eq Mira", .unexpected("Mira")), ("(true", .missing("`)`")),
        ("true)", .unexpected(")")), (#"/name eq "Mira"#, .openString), ("true true", .unexpected("true")),
        ("or true", .unexpected("true")),
        (String(repeating: "(", count: 100) + "true" + String(repeating: ")", count: 100), .tooDeep),
        (String(repeating: "!", count: 1000) + "true", .tooDeep),
        ("true" + String(repeating: " or true", count: 256), .tooDeep),
        ("true" + String(repeating: " and true", count: 256), .tooDeep),
    ]

    @Test("A text that is not a filter is refused with the reason", arguments: wrong)
    func refusesTextThatIsNoFilter(text: String, reason: QueryFilterError) {
        #expect(throws: reason) { try QueryFilter(text) }
    }
}
