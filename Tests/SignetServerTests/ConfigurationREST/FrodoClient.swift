import Foundation
import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

extension ServerConfiguration {
    /// A configuration with an administrator of the top-level realm, and with the journeys and clients of the starter file.
    static func administered(_ configure: (inout Self) -> Void = { _ in }) -> ServerConfiguration {
        .sample {
            var administrator = User(name: FrodoClient.name, password: Secret(FrodoClient.password.utf8))
            administrator.isAdministrator = true
            $0.users.append(administrator)
            configure(&$0)
        }
    }
}

/// Sends the requests of the tool frodo, in its order (frodo-cli 3.1.0, frodo-lib 3.3.0).
struct FrodoClient: Sendable {
    static let name = "amadmin"
    static let password = "harbor gate 51"
    static let trees = "realm-config/authentication/authenticationtrees/trees"
    static let nodes = "realm-config/authentication/authenticationtrees/nodes"
    static let agents = "realm-config/agents"
    /// The version of the resources below `realm-config`.
    static let configured = "protocol=2.1,resource=1.0"
    /// The version of scripts and realms.
    static let global = "protocol=2.0,resource=1.0"

    let server: TestServer
    /// The realm as frodo writes it: `/realms/root`, and `/realms/root/realms/alpha`.
    let realm: String
    let token: String

    /// Connects as frodo does: it learns the name of the cookie, logs in, and asks for the session and the version of the server.
    /// - Parameters:
    ///   - server: The server.
    ///   - realm: The realm.
    ///   - usesHeaders: True to send name and password in the first request, as frodo-lib does from 3.3.1 on.
    /// - Throws: The error of a request, or of an answer without a token.
    init(_ server: TestServer, realm: String = "/realms/root", usesHeaders: Bool = false) async throws {
        let information = try await server.send(.get, "/am/json/serverinfo/*", headers: Self.headers("resource=1.1"))
        #expect(information.json["cookieName"] == "iPlanetDirectoryPro" && information.json["realm"] == "/")
        let login = try await Self.logIn(server, usesHeaders: usesHeaders)
        let token = try #require(login.json["tokenId"]?.string, "\(login.text)")
        let session = try await server.send(
            .post, "/am/json\(realm)/sessions/?_action=getSessionInfo", headers: Self.headers("resource=4.0"),
            body: JSON.text(of: .object(["tokenId": .string(token)])))
        #expect(session.status == 200 && session.json["username"]?.string == Self.name, "\(session.text)")
        #expect(session.json["maxIdleExpirationTime"]?.string != nil && session.json["realm"] == "/")
        var headers = Self.headers("resource=1.0")
        headers["Cookie"] = "iPlanetDirectoryPro=\(token)"
        let version = try await server.send(.get, "/am/json/serverinfo/version", headers: headers)
        #expect(version.json["version"]?.string == ServerInfoController.amVersion)
        (self.server, self.realm, self.token) = (server, realm, token)
    }

    private static func logIn(_ server: TestServer, usesHeaders: Bool) async throws -> Reply {
        var headers = headers("resource=2.0, protocol=1.0")
        if usesHeaders {
            headers["X-OpenAM-Username"] = name
            headers["X-OpenAM-Password"] = password
        }
        let first = try await server.send(.post, TestServer.authenticate, headers: headers, body: "{}")
        guard !usesHeaders else { return first }
        var step = try first.step
        step.fill("NameCallback", .string(name))
        step.fill("PasswordCallback", .string(password))
        let body = String(decoding: try JSON.encode(step), as: UTF8.self)
        return try await server.send(.post, TestServer.authenticate, headers: headers, body: body)
    }

    private static func headers(_ version: String) -> [String: String] {
        [
            "Accept": "application/json, text/plain, */*", "Content-Type": "application/json",
            "User-Agent": "@rockcarver/frodo-lib/3.3.0", "X-ForgeRock-TransactionId": "frodo-1",
            "Accept-API-Version": version,
        ]
    }

    /// Sends a request for a resource of the realm.
    func send(
        _ method: HTTPRequest.Method, _ path: String, _ body: JSONValue? = nil, version: String = configured,
        _ changes: [String: String?] = [:]
    ) async throws -> Reply {
        var headers = Self.headers(version)
        headers["Cookie"] = "iPlanetDirectoryPro=\(token)"
        for (name, value) in changes { headers[name] = value }
        let isGlobal = path.hasPrefix("global-config")
        return try await server.send(
            method, "/am/json\(isGlobal ? "" : realm)/\(path)", headers: headers, body: body.map { JSON.text(of: $0) })
    }

    // MARK: Commands

    /// `frodo journey list`.
    func journeys() async throws -> [String] {
        let reply = try await send(.get, "\(Self.trees)?_queryFilter=true")
        #expect(reply.status == 200, "\(reply.text)")
        for name in ["resultCount", "totalPagedResults", "remainingPagedResults"] {
            #expect(reply.json[name]?.lenientInteger != nil)
        }
        #expect(reply.json["totalPagedResultsPolicy"] == "NONE" && reply.json["pagedResultsCookie"] == .null)
        return reply.json["result"]?.array?.compactMap { $0["_id"]?.string } ?? []
    }

    /// `frodo journey import`: scripts, nodes on pages, nodes, and the tree.
    func importJourney(_ bundle: JSONValue) async throws {
        for (id, script) in bundle["scripts"]?.object?.sorted(by: { $0.key < $1.key }) ?? [] {
            let reply = try await send(.put, "scripts/\(id)", script, version: Self.global)
            #expect((200...201).contains(reply.status), "\(reply.text)")
        }
        for part in ["innerNodes", "nodes"] {
            for (id, node) in bundle[part]?.object?.sorted(by: { $0.key < $1.key }) ?? [] {
                let type = try #require(node["_type"]?["_id"]?.string)
                let reply = try await send(.put, "\(Self.nodes)/\(type)/\(id)", node.unrevised)
                #expect((200...201).contains(reply.status) && reply.json["_rev"]?.string != nil, "\(reply.text)")
            }
        }
        let tree = try #require(bundle["tree"])
        let name = try #require(tree["_id"]?.string)
        let reply = try await send(.put, "\(Self.trees)/\(name)", tree.unrevised)
        #expect((200...201).contains(reply.status) && reply.json["_id"]?.string == name, "\(reply.text)")
    }

    /// `frodo journey export`, and `describe`: the tree, its nodes, and the nodes on its pages.
    func export(_ name: String) async throws -> JSONValue {
        let tree = try await send(.get, "\(Self.trees)/\(name)")
        #expect(tree.status == 200 && tree.header("ETag") != nil, "\(tree.text)")
        var nodes: [String: JSONValue] = [:]
        var inner: [String: JSONValue] = [:]
        var scripts: [String: JSONValue] = [:]
        for (id, reference) in tree.json["nodes"]?.object ?? [:] {
            let node = try await node(id, reference)
            nodes[id] = node.unrevised
            for child in node["nodes"]?.array ?? [] {
                let childID = try #require(child["_id"]?.string)
                inner[childID] = try await self.node(childID, child).unrevised
            }
        }
        for id in (Array(nodes.values) + Array(inner.values)).compactMap({ $0["script"]?.string }) {
            scripts[id] = try await send(.get, "scripts/\(id)", version: Self.global).json.unrevised
        }
        return .object([
            "tree": tree.json.unrevised, "nodes": .object(nodes), "innerNodes": .object(inner), "scripts": .object(scripts),
        ])
    }

    private func node(_ id: String, _ reference: JSONValue) async throws -> JSONValue {
        let type = try #require(reference["nodeType"]?.string)
        let reply = try await send(.get, "\(Self.nodes)/\(type)/\(id)")
        #expect(reply.status == 200, "\(reply.text)")
        return reply.json
    }

    /// `frodo journey enable` and `disable`.
    func setEnabled(_ isEnabled: Bool, _ name: String) async throws -> Reply {
        let tree = try await send(.get, "\(Self.trees)/\(name)").json
        let changed = tree.setting(.bool(isEnabled), at: ["enabled"]).unrevised
        return try await send(.put, "\(Self.trees)/\(name)", changed)
    }

    /// `frodo journey delete`: the tree, then the nodes on its pages, and its nodes.
    func delete(_ name: String) async throws {
        let deleted = try await send(.delete, "\(Self.trees)/\(name)")
        #expect(deleted.status == 200, "\(deleted.text)")
        #expect(try await send(.get, "\(Self.trees)/\(name)").status == 404)
        for (id, reference) in deleted.json["nodes"]?.object ?? [:] {
            let type = try #require(reference["nodeType"]?.string)
            let node = try await node(id, reference)
            for child in node["nodes"]?.array ?? [] {
                let (childType, childID) = (child["nodeType"]?.string ?? "", child["_id"]?.string ?? "")
                let removed = try await send(.delete, "\(Self.nodes)/\(childType)/\(childID)")
                #expect(removed.status == 200, "\(removed.text)")
            }
            let removed = try await send(.delete, "\(Self.nodes)/\(type)/\(id)")
            #expect(removed.status == 200 && removed.json["_id"]?.string == id, "\(removed.text)")
        }
    }

    /// `frodo journey prune`: all nodes of all types that no tree has.
    /// - Returns: The number of nodes that were removed.
    func prune() async throws -> Int {
        let trees = try await send(.get, "\(Self.trees)?_queryFilter=true").json["result"]?.array ?? []
        let types = try await send(.post, "\(Self.nodes)?_action=getAllTypes", .object([:])).json["result"]?.array ?? []
        var all: [String: String] = [:]
        for type in types.compactMap({ $0["_id"]?.string }) {
            let reply = try await send(.get, "\(Self.nodes)/\(type)?_queryFilter=true")
            #expect(reply.status == 200)
            for node in reply.json["result"]?.array ?? [] { all[node["_id"]?.string ?? ""] = type }
        }
        var active: Set<String> = []
        for tree in trees {
            for (id, reference) in tree["nodes"]?.object ?? [:] {
                active.insert(id)
                guard reference["nodeType"] == "PageNode" else { continue }
                active.formUnion(try await node(id, reference).childIDs)
            }
        }
        let orphans = all.filter { !active.contains($0.key) }
        for (id, type) in orphans {
            let removed = try await send(.delete, "\(Self.nodes)/\(type)/\(id)")
            #expect(removed.status == 200)
        }
        return orphans.count
    }
}

extension JSONValue {
    /// The document without its revision.
    var unrevised: JSONValue { .object((object ?? [:]).filter { $0.key != "_rev" }) }
}

extension ExportFixtures {
    /// Returns the journeys of the files of frodo in an export, by name: `tree`, `nodes`, `innerNodes`, `scripts`.
    static func bundles(_ name: String) throws -> [String: JSONValue] {
        var bundles: [String: JSONValue] = [:]
        let directory = path(name)
        for file in try FileManager.default.contentsOfDirectory(atPath: directory) where file.hasSuffix(".json") {
            let data = try Data(contentsOf: URL(filePath: "\(directory)/\(file)"))
            bundles.merge(try JSON.value(of: data)["trees"]?.object ?? [:]) { $1 }
        }
        return bundles
    }
}
