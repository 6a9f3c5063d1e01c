import SignetCore
import Testing

@Suite("Form coding")
struct FormCodingTests {
    private static let queries: [(query: String, fields: [String: String])] = [
        ("", [:]), ("&&", [:]), ("a", ["a": ""]), ("a=", ["a": ""]), ("=a", ["": "a"]), ("a=b=c", ["a": "b=c"]),
        ("a=1&b=2&a=3", ["a": "1", "b": "2"]), ("a=1&&b=2&", ["a": "1", "b": "2"]), ("a+b=c+d", ["a b": "c d"]),
        ("a%20b=%C3%BC", ["a b": "ü"]), ("a=ü", ["a": "ü"]), ("a=%26%3D&b=%2B", ["a": "&=", "b": "+"]),
        // Invalid escapes are kept, and so are escapes of what is not UTF-8.
        ("a=%&b=%2&c=%zz", ["a": "%", "b": "%2", "c": "%zz"]), ("a=%FF+x", ["a": "%FF x"]), ("%4=1", ["%4": "1"]),
    ]

    @Test("A query is decoded, and of two fields with the same name the first counts", arguments: queries)
    func decodesQuery(query: String, fields: [String: String]) {
        #expect(FormCoding.decode(query) == fields)
        #expect(FormCoding.decode("x\(query)".dropFirst()) == fields)
    }

    @Test("The values that are not wanted are not decoded, and are only empty or not", arguments: queries)
    func decodesWantedValues(query: String, fields: [String: String]) {
        let found = FormCoding.decode(query) { $0 == "a" }
        #expect(found.keys == fields.keys && found["a"] == fields["a"])
        let others = found.filter { $0.key != "a" }
        let areHidden = others.allSatisfy { $0.value == (fields[$0.key] == "" ? "" : " ") }
        #expect(areHidden)
    }

    @Test("One field of a query has the value that it has among all fields", arguments: queries)
    func decodesOneField(query: String, fields: [String: String]) {
        for (name, value) in fields { #expect(FormCoding.value(of: name, in: query) == value) }
        #expect(FormCoding.value(of: "absent", in: query) == nil)
    }

    @Test(
        "A form with an invalid escape or with a name twice is refused",
        arguments: [
            ("a=%", FormError.coding), ("a=%FF", .coding), ("%zz=1", .coding), ("a=1&a=2", .duplicate),
            ("a+b=1&a%20b=2", .duplicate),
        ])
    func refusesForm(form: String, error: FormError) {
        #expect(throws: error) { try FormCoding.decodeOnce(form) }
    }

    @Test("A form is decoded with each name once")
    func decodesForm() throws {
        #expect(try FormCoding.decodeOnce("a=1+2&b=%3D&c") == ["a": "1 2", "b": "=", "c": ""])
    }
}
