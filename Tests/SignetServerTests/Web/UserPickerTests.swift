import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The page at which a tester chooses a user")
struct UserPickerTests {
    private func run(isOn: Bool = true, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(
            .sample {
                $0.offersUserPicker = isOn
                $0.users[1].isLocked = true
            }, body)
    }

    @Test("A tester goes from authorize to the app's address as the chosen user, without a password")
    func signsInAsChosenUser() async throws {
        try await run { server in
            let browser = PageBrowser(server)
            let login = try await browser.get(try await server.authorizeAddress())
            let link = try #require(login.text.captures("<a href=\"([^\"]*)\">Choose a user for a test</a>").first?[0].unescaped)
            let page = try await browser.get(link)
            #expect(page.heading == "Choose a user" && page.text.contains(">mira</button>"))
            let reply = try await browser.submit(page, ["user": "mira"])
            #expect(reply.header("Location")?.hasPrefix("\(TestServer.redirectURI)?code=") == true)
            let code = try #require(try reply.location["code"])
            #expect(try await server.exchange(code).status == 200)
        }
    }

    @Test("Without a destination the chosen user sees the session")
    func showsSession() async throws {
        try await run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/users?realm=/alpha")
            #expect(page.text.contains(">mira</button>") && !page.text.contains("noa"))
            #expect(try await browser.submit(page, ["user": "mira"]).heading == "You are signed in")
        }
    }

    @Test("A locked user cannot be chosen, and an unknown one does not exist")
    func refusesLockedUser() async throws {
        try await run { server in
            let browser = PageBrowser(server)
            let page = try await browser.get("/am/XUI/users?realm=/")
            #expect(page.text.contains("noa (locked)"))
            #expect(try await browser.submit(page, ["user": "noa"]).status == 409)
            #expect(try await browser.submit(page, ["user": "unknown"]).status == 404)
        }
    }

    @Test("An administrator is not offered")
    func offersNoAdministrator() async throws {
        let configuration = ServerConfiguration.sample {
            $0.offersUserPicker = true
            $0.users[1].isAdministrator = true
        }
        try await TestServer.run(configuration) { server in
            let page = try await PageBrowser(server).get("/am/XUI/users?realm=/")
            #expect(page.text.contains(">mira</button>") && !page.text.contains("noa"))
        }
    }

    @Test("A form of another browser, and a destination that no client has registered, are refused")
    func refusesForeignForm() async throws {
        try await run { server in
            let page = try await PageBrowser(server).get("/am/XUI/users?realm=/")
            let other = PageBrowser(server)
            _ = try await other.get("/am/XUI/users?realm=/")
            #expect(try await other.submit(page, ["user": "mira"]).status == 403)
            #expect(try await PageBrowser(server).get("/am/XUI/users?realm=/&goto=https://evil.example").status == 400)
        }
    }

    @Test("The page exists only when the configuration offers it, and only for browsers on this machine")
    func existsOnlyOnThisMachine() async throws {
        try await run(isOn: false) { server in
            let login = try await PageBrowser(server).get("/am/XUI/?realm=/")
            #expect(!login.text.contains("Choose a user"))
            #expect(try await PageBrowser(server).get("/am/XUI/users?realm=/").status == 404)
        }
        try await run { server in
            let reply = try await server.send(.get, "/am/XUI/users?realm=/", headers: ["X-Forwarded-For": "192.0.2.1"])
            #expect(reply.status == 404)
        }
    }

    @Test("The configuration file turns the page and the traces on and off")
    func readsSettings() throws {
        let configuration = try ServerConfiguration(yaml: "server: {offersUserPicker: true, loginTraces: 7}")
        #expect(configuration.offersUserPicker && configuration.loginTraces == 7)
        #expect(!(try ServerConfiguration(yaml: "server: {}")).offersUserPicker)
    }
}
