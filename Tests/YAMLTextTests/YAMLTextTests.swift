import SignetCore
import Testing
import YAMLText

@Suite("YAML texts")
struct YAMLTextTests {
    private func problem(_ text: String) -> YAMLText.Problem? {
        do {
            _ = try YAMLText.value(of: text)
            return nil
        } catch {
            return error
        }
    }

    @Test("A byte order mark before the first character of a text is ignored")
    func ignoresByteOrderMark() throws {
        let value = try #require(try YAMLText.value(of: "\u{FEFF}realms: [/, /alpha]\n"))
        #expect(value.json == .object(["realms": .array([.string("/"), .string("/alpha")])]))
        #expect(value.mapping?.map(\.key) == ["realms"])
    }

    @Test("Unquoted YAML scalars have the types of the core schema, and quoted scalars are strings")
    func readsScalarsOfCoreSchema() throws {
        let value = try #require(
            try YAMLText.value(
                of: """
                    [1, -2, 1.5, 1e3, true, False, ~, null, "", '1', "true", nan, infinity, 0x10, 1.2.3, yes, "two\\nlines", .5, +3, 99999999999999999999]
                    """))
        let expected: [JSONValue] = [
            .integer(1), .integer(-2), .number(1.5), .number(1000), .bool(true), .bool(false), .null, .null, .string(""),
            .string("1"), .string("true"), .string("nan"), .string("infinity"), .number(16), .string("1.2.3"), .string("yes"),
            .string("two\nlines"), .number(0.5), .integer(3), .number(1e20),
        ]
        #expect(value.json == .array(expected))
    }

    @Test("An ampersand or a star within a YAML string is neither an anchor nor an alias")
    func readsAmpersandsAndStars() throws {
        let value = try YAMLText.value(of: "server: {issuer: Tom & Jerry * Spike}\nusers: [{name: '*', password: '& *'}]\n")
        #expect(value?.json["server"]?["issuer"]?.string == "Tom & Jerry * Spike")
        let user = JSONValue.object(["name": .string("*"), "password": .string("& *")])
        #expect(value?.json["users"] == .array([user]))
    }

    @Test("Each value and each key has its position in the text")
    func marksPositions() throws {
        let value = try #require(try YAMLText.value(of: "url: x\nclient:\n  id: app\n"))
        let client = try #require(value.mapping?.last)
        #expect(client.position == SourcePosition(line: 2, column: 1))
        let id = try #require(client.value.mapping?.first)
        #expect(id.position == SourcePosition(line: 3, column: 3) && id.value.position == SourcePosition(line: 3, column: 7))
    }

    @Test("A text without a value has no value")
    func readsEmptyText() throws {
        for text in ["", "# nothing\n"] {
            let value = try YAMLText.value(of: text)
            #expect(value == nil, "\(text)")
        }
    }

    @Test(
        "A problem has the position of the error and not the text of a value",
        arguments: [
            ("a: 1\nb: [hunter2", 2), ("a: &x hunter2\nb: *x", 2), ("a: &hunter2 1", 1), ("a:\n\t- hunter2", 2),
            ("a: hunter2\na: hunter2", 1),
        ])
    func reportsProblem(text: String, line: Int) throws {
        let problem = try #require(self.problem(text), "\(text)")
        #expect(problem.position.line >= line, "\(text)")
        #expect(!problem.message.contains("hunter2"))
    }

    @Test("A text that is too large, or values that are nested too deeply, are refused")
    func refusesLargeOrDeeplyNestedText() {
        #expect(problem("# " + String(repeating: "x", count: 5 << 20))?.position == .start)
        for (open, close) in [("[", "]"), ("{a: ", "}")] {
            for depth in [100, 900, 20_000] {
                let nested = String(repeating: open, count: depth) + "x" + String(repeating: close, count: depth)
                #expect(problem("users: " + nested) != nil, "\(depth)")
            }
        }
    }
}
