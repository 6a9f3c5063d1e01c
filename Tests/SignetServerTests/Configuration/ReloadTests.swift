import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("A configuration that is reloaded", .timeLimit(.minutes(5)))
struct ReloadTests {
    private static let before =
        """
        server: {sessionIdleTimeout: 1000}
        users:
          - {name: mira, password: correct horse}
          - {name: noa, password: staple}
        clients:
          - {id: app, redirectURIs: ["org.example.app://callback"]}
          - {id: old}

        """ + ServerConfiguration.loginJourney + """
              Old:
                nodes:
                  end: {type: FailureNode}

            """

    private static let after =
        before
        .replacing("sessionIdleTimeout: 1000", with: "sessionIdleTimeout: 900, contextPath: /other")
        .replacing("{name: noa, password: staple}", with: "{name: kim, password: secret, realm: /alpha}")
        .replacing("password: correct horse", with: "password: battery")
        .replacing("- {id: old}", with: "- {id: new}").replacing("Old:", with: "New:")

    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        var configuration = try ServerConfiguration(yaml: Self.before)
        configuration.adminToken = Secret(AdminTests.token.utf8)
        configuration.signingKey = TestServer.signingKey
        try await TestServer.run(configuration, body)
    }

    @Test("A reload changes users, clients, journeys and settings, and reports what was added, changed and removed")
    func reportsDifference() async throws {
        try await run { server in
            let noa = try await server.session(name: "noa", password: "staple")
            let difference = try await server.devServer.reload(try ServerConfiguration(yaml: Self.after))
            #expect(
                difference.lines == [
                    "users: added kim in /alpha; changed mira; removed noa", "clients: added new; removed old",
                    "journeys: added New; removed Old", "settings: changed sessionIdleTimeout",
                    "settings that need a restart: contextPath",
                ])
            #expect(!"\(difference)".contains("battery") && !difference.isEmpty)
            // The context path is the old one.
            #expect(try await server.logIn("Login", password: "correct horse").status == 401)
            #expect(try await server.logIn("Login", password: "battery").isLoggedIn)
            #expect(try await server.logIn("Login", name: "noa", password: "staple").status == 401)
            let alpha = "/am/json/realms/root/realms/alpha/authenticate"
            #expect(try await server.logIn("Login", name: "kim", password: "secret", at: alpha).isLoggedIn)
            #expect(try await !server.isValid(noa))
            #expect(try await server.start("Old").status == 400)
            #expect(try await server.start("New").status == 401)
            let clients = try await server.admin(.get, "clients").json["clients"]?.array?.map { $0["id"] }
            #expect(clients == ["app", "new"])
            // The same file again changes nothing, except that the restart is still missing.
            let again = try await server.devServer.reload(try ServerConfiguration(yaml: Self.after))
            #expect(again.lines == ["settings that need a restart: contextPath"])
        }
    }

    @Test("Sessions, tokens and running journeys of users who stay continue after a reload")
    func keepsSessionsAndTokens() async throws {
        try await run { server in
            let session = try await server.session()
            let tokens = try Tokens(try await server.exchange(try await server.code(session)))
            var step = try await server.start("Login").step
            let same = Self.before.replacing("{id: old}", with: "{id: old, requirePKCE: false}")
            let difference = try await server.devServer.reload(try ServerConfiguration(yaml: same))
            #expect(difference.lines == ["clients: changed old"])
            #expect(try await server.isValid(session))
            #expect(try await server.userInfo(tokens.access).status == 200)
            #expect(try await server.refresh(try #require(tokens.refresh)).status == 200)
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", "correct horse")
            #expect(try await server.next(step).isLoggedIn)
            #expect(try await server.devServer.reload(try ServerConfiguration(yaml: same)).isEmpty)
        }
    }

    @Test("Every setting of the server is compared by a reload")
    func comparesEverySetting() throws {
        let names = Set(ReloadableSetting.all.map(\.name))
        #expect(names.count == ReloadableSetting.all.count)
        let settings = try #require(ConfigurationReader.probe()[.server])
        for setting in settings.map(\.name) where setting != "limits" {
            #expect(names.contains(setting), "\(setting)")
        }
    }
}

@Suite("A reloaded configuration in every kind of state", .postgresServer, .serialized, .timeLimit(.minutes(5)))
struct ReloadStateTests {
    @Test("A user who is removed and added again gets nothing of the earlier user", arguments: StateKind.available)
    func readdedUserIsNew(kind: StateKind) async throws {
        try await StateLocation.with(kind) { location in
            var configuration = location.configuration
            configuration.users = [User(name: "mira", password: Secret("a".utf8))]
            let server = DevServer(configuration: configuration, logger: .silent)
            let token = try await server.openSession(for: "mira")
            func isValid() async throws -> Bool {
                try await server.context.store.read { tx in try tx.sessions.find(TokenHash(token)) != nil }
            }
            #expect(try await isValid())
            var empty = configuration
            empty.users = []
            try await server.reload(empty)
            #expect(try await !isValid())
            try await server.reload(configuration)
            #expect(try await !isValid())
            await server.close()
            // The next start knows the user from the reload.
            let next = DevServer(configuration: configuration, logger: .silent)
            let other = try await next.openSession(for: "mira")
            let isThere = try await next.context.store.read { tx in try tx.sessions.find(TokenHash(other)) != nil }
            #expect(isThere)
            await next.close()
        }
    }
}
