import Testing

@testable import SignetCore

/// The short way must say the same as the long one, or nothing.
@Suite("The short way through plain JSON")
struct PlainJSONObjectTests {
    @Test(
        "gives what the decoder gives",
        arguments: [
            "{}", #"{"a":"b"}"#, #"{"a":"b","c":""}"#, #"{"u":"1","l":"a\/b","m":"say \"yes\" \\ no"}"#, #"{"\"":"\\"}"#,
        ])
    func same(json: String) throws {
        let long = try JSON.decode([String: String].self, from: json.utf8)
        let short = PlainJSONObject.members(of: Array(json.utf8))
        #expect(short.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.name, $0.text) }) } == (json == "{}" ? nil : long))
    }

    @Test(
        "leaves every other form, and everything that is no JSON, to the decoder",
        arguments: [
            "", "{", "}", "[]", #"{"a":1}"#, #"{"a":null}"#, #"{"a":{"b":"c"}}"#, #"{ "a":"b"}"#, #"{"a": "b"}"#, #"{"a":"b"} "#,
            #"{"a":"b",}"#, #"{"a":"b","a":"c"}"#, #"{"a":"\n"}"#, #"{"a":"\u0041"}"#, #"{"a":"ü"}"#, "{\"a\":\"\u{1}\"}",
            #"{"a":"b"#, #"{"a":"b\"#, #"{"a":"b\""#, #"{"a""b"}"#, #"{a:"b"}"#, #"{"a":"b"}{"#, "{\"a\":\"\u{7F}\"}",
        ])
    func other(json: String) {
        #expect(PlainJSONObject.members(of: Array(json.utf8)) == nil)
    }

    @Test("never says anything else than the decoder, over thousands of random texts, whole and damaged")
    func differential() throws {
        let pieces = [
            "{", "}", "\"", "\\", "/", ":", ",", "a", "b", "\\\"", "\\/", "\\u0041", " ", "1", "ü", "{\"a\":\"b\"",
            ",\"c\":\"d\"", "}",
        ]
        var agreed = 0
        for _ in 0..<20_000 {
            var text = (0..<Int.random(in: 1...7)).map { _ in pieces[Int.random(in: 0..<pieces.count)] }.joined()
            if Bool.random() { text = "{\"x\":\"" + text + "\"}" }
            guard let short = PlainJSONObject.members(of: Array(text.utf8)) else { continue }
            let long = try JSON.decode([String: String].self, from: text.utf8)
            #expect(Dictionary(uniqueKeysWithValues: short.map { ($0.name, $0.text) }) == long, "\(text)")
            agreed += 1
        }
        #expect(agreed > 1000)
    }
}

private func == (left: [(name: String, text: String)]?, right: [(name: String, text: String)]?) -> Bool {
    left?.map { [$0.name, $0.text] } == right?.map { [$0.name, $0.text] }
}
