import Foundation
import SignetCore
import TestSupport
import Testing
import YAMLText

@testable import SignetServer

@Suite("The JSON Schema of the configuration file")
struct ConfigurationSchemaTests {
    private static let schema = ConfigurationSchema.value

    /// Returns the problems of the sections of a file, without their messages.
    private func problems(_ yaml: String) throws -> [String] {
        let value = try #require(try YAMLText.value(of: yaml)).json
        return ConfigurationSchemaCheck(root: Self.schema).problems(value, Self.schema, "")
    }

    @Test("The starter file and every documented example comply with the schema")
    func acceptsDocumentedFiles() throws {
        #expect(try problems(ServerConfiguration.starterText) == [])
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        var count = 0
        for page in ["docs/reference/configuration.md", "docs/guides/server-configuration.md"] {
            let text = try String(contentsOf: root.appending(path: page), encoding: .utf8)
            for part in text.components(separatedBy: "```yaml\n").dropFirst() {
                #expect(try problems(part.components(separatedBy: "```")[0]) == [])
                count += 1
            }
        }
        #expect(count >= 3)
    }

    /// Files with a mistake, and the place at which the schema refuses them.
    static let mistakes: [(String, String)] = [
        ("usres: []", "/usres"), ("server: {pushTimeout: 0}", "/server/pushTimeout"),
        ("server: {cookieSameSite: never}", "/server/cookieSameSite"),
        ("server: {lifetimes: {accesToken: 1}}", "/server/lifetimes/accesToken"),
        ("server: {limits: {lockout: always}}", "/server/limits/lockout"), ("users: [{password: a}]", "/users/0/name"),
        ("users: {}", "/users"), ("clients: [{id: app, refreshTokens: often}]", "/clients/0/refreshTokens"),
        ("email: {smtp: {}}", "/email/smtp/host"), ("push: {gateway: {keys: [{id: x}]}}", "/push/gateway/keys/0/id"),
        ("journeys: {L: {nodes: {a: {type: NoSuchNode}}}}", "/journeys/L/nodes/a/type"),
        ("journeys: {L: {nodes: {a: {type: RetryLimitDecisionNode, retryLimt: 3}}}}", "/journeys/L/nodes/a/retryLimt"),
        ("journeys: {L: {nodes: {a: {type: PageNode, nodes: [{type: X}]}}}}", "/journeys/L/nodes/a/nodes/0/type"),
        ("journeys: {L: {nods: {}}}", "/journeys/L/nods"), ("languages: {de: {singIn: a}}", "/languages/de/singIn"),
        ("languages: {de: {signIn: [a]}}", "/languages/de/signIn"),
    ]

    @Test("The schema refuses a mistake at its place", arguments: mistakes)
    func refusesMistakes(yaml: String, place: String) throws {
        #expect(try problems(yaml) == [place])
    }

    @Test("The schema has every node type, and a description for every setting")
    func describesEverySetting() throws {
        let node = Self.schema["definitions"]?["node"]
        #expect(node?["properties"]?["type"]?["enum"]?.array?.compactMap(\.string) == NodeType.all.map(\.name))
        let server = try #require(Self.schema["definitions"]?["server"]?["properties"]?.object)
        #expect(server.count > 25)
        let described = server.values.allSatisfy { $0["description"]?.string?.isEmpty == false }
        #expect(described && server["limits"]?["properties"]?["lockout"] != nil)
    }
}

/// Checks a value with the parts of JSON Schema that ``ConfigurationSchema`` uses.
private struct ConfigurationSchemaCheck {
    let root: JSONValue

    /// Returns the places at which a value does not comply with a schema.
    func problems(_ value: JSONValue, _ schema: JSONValue, _ place: String) -> [String] {
        if let reference = schema["$ref"]?.string {
            let definition = root["definitions"]?[String(reference.split(separator: "/").last ?? "")] ?? .bool(false)
            return problems(value, definition, place)
        }
        if let choices = schema["enum"]?.array, !choices.contains(value) { return [place] }
        if let constant = schema["const"], constant != value { return [place] }
        if let any = schema["anyOf"]?.array {
            let all = any.map { problems(value, $0, place) }
            // The problems of the alternative with the right type are those to report.
            if !all.contains([]) { return all.first { $0 != [place] } ?? [place] }
        }
        if let type = schema["type"], !hasType(value, type) { return [place] }
        if case .integer(let number) = value {
            if case .integer(let least)? = schema["minimum"], number < least { return [place] }
            if case .integer(let most)? = schema["maximum"], number > most { return [place] }
        }
        var found = (schema["allOf"]?.array ?? []).flatMap { part -> [String] in
            guard let condition = part["if"], let then = part["then"] else { return problems(value, part, place) }
            return problems(value, condition, place).isEmpty ? problems(value, then, place) : []
        }
        if let members = value.object { found += problems(ofMembers: members, schema, place) }
        if let items = schema["items"], let elements = value.array {
            found += elements.enumerated().flatMap { problems($0.element, items, "\(place)/\($0.offset)") }
        }
        return found
    }

    private func problems(ofMembers members: [String: JSONValue], _ schema: JSONValue, _ place: String) -> [String] {
        let missing = (schema["required"]?.array ?? []).compactMap(\.string).filter { members[$0] == nil }.map {
            "\(place)/\($0)"
        }
        return missing
            + members.sorted { $0.key < $1.key }.flatMap { name, member -> [String] in
                let own = "\(place)/\(name)"
                if let property = schema["properties"]?[name] { return problems(member, property, own) }
                switch schema["additionalProperties"] {
                case .bool(false)?: return [own]
                case let other?: return problems(member, other, own)
                case nil: return []
                }
            }
    }

    private func hasType(_ value: JSONValue, _ type: JSONValue) -> Bool {
        (type.array ?? [type]).contains { name in
            switch (name.string, value) {
            case ("string", .string), ("boolean", .bool), ("integer", .integer), ("number", .integer), ("number", .number),
                ("object", .object), ("array", .array):
                true
            default: false
            }
        }
    }
}
