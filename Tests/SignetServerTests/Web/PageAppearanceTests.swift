import HTTPTypes
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("Names, logos and colors of pages")
struct PageAppearanceTests {
    private static let pixel = "data:image/png;base64,iVBORw0KGgo="

    private static let shops = ServerConfiguration.sample { configuration in
        for index in configuration.clients.indices where configuration.clients[index].realm == "/" {
            configuration.clients[index].name = "The <Shop>"
            configuration.clients[index].logo = "https://shop.example.test/logo.png"
        }
    }

    @Test("Pages show the name and the logo of the client, and permit its image only")
    func showsClient() async throws {
        try await TestServer.run(Self.shops) { server in
            let browser = PageBrowser(server)
            let login = try await browser.get(try await server.authorizeAddress())
            #expect(login.text.contains("To go on to The &lt;Shop&gt;"))
            #expect(login.text.contains("<img src=\"https://shop.example.test/logo.png\" alt class="))
            #expect(login.header("Content-Security-Policy")?.contains("img-src 'self' https://shop.example.test;") == true)
            _ = try await browser.signIn(try await browser.get(LoginPageTests.xui))
            let consent = try await server.authorize(browser.cookies["iPlanetDirectoryPro"], client: "asking")
            #expect(consent.heading == "Allow The &lt;Shop&gt;?")
        }
    }

    @Test("The pages for a device and for a logout show the name and the logo of the client")
    func showsClientOfDeviceAndLogout() async throws {
        try await TestServer.run(Self.shops) { server in
            let session = try await server.session()
            let headers = ["Accept": "text/html,application/xhtml+xml", "Cookie": "iPlanetDirectoryPro=\(session)"]
            let started = try await server.postForm("device/code", ["client_id": "app", "scope": "openid"])
            let userCode = try #require(started.json["user_code"]?.string)
            let path = "\(TestServer.oauth)/device/user?user_code=\(userCode)"
            let question = try await server.send(.get, path, headers: headers)
            #expect(question.heading == "Allow The &lt;Shop&gt;?")
            let allowed = try await server.postForm(
                "device/user", ["user_code": userCode, "decision": "allow", "csrf": session], headers: headers)
            #expect(allowed.heading == "Allowed")

            let logout = ["client_id": "app", "post_logout_redirect_uri": "https://app.example.test/bye"]
            let address = "\(TestServer.oauth)/connect/endSession?\(TestServer.form(logout))"
            let asked = try await server.send(.get, address, headers: headers)
            #expect(asked.text.contains("you return to The &lt;Shop&gt;."))
            let notSignedIn = try await server.send(.get, address, headers: ["Accept": "text/html,application/xhtml+xml"])
            #expect(notSignedIn.text.contains(">Return to The &lt;Shop&gt;</a>"))
            for page in [question, allowed, asked, notSignedIn] {
                #expect(page.text.contains("<img src=\"https://shop.example.test/logo.png\" alt class="))
                #expect(page.header("Content-Security-Policy")?.contains("img-src 'self' https://shop.example.test;") == true)
            }
        }
    }

    @Test("Pages have the logo and the color of the server, as a style sheet of its own")
    func showsServer() async throws {
        try await TestServer.run(
            .sample {
                $0.logo = Self.pixel
                $0.accentColor = "3366cc"
            }
        ) { server in
            let page = try await PageBrowser(server).get(LoginPageTests.xui)
            #expect(page.text.contains("<img src=\"\(Self.pixel)\" alt class=\"logo\">"))
            #expect(page.header("Content-Security-Policy")?.contains("img-src 'self' data:;") == true)
            let address = try #require(page.text.captures("href=\"(/am/XUI/colors.css[^\"]*)\"").first?[0].unescaped)
            let sheet = try await server.send(.get, address, headers: [:])
            #expect(sheet.status == 200 && sheet.text.contains("--accent: #3366cc"))
        }
        try await TestServer.run { server in
            let sheet = try await server.send(.get, "/am/XUI/colors.css", headers: [:])
            #expect(sheet.status == 404)
        }
    }

    @Test(
        "A color that would be hard to read is made darker for light pages and lighter for dark ones",
        arguments: [("ffffff", false, true), ("000000", true, false), ("ffff00", false, true), ("23635e", true, false)])
    func adaptsColors(digits: String, isKeptLight: Bool, isKeptDark: Bool) throws {
        let colors = PageColors(digits).css.captures("--accent: #([0-9a-f]{6});").map { $0[0] }
        #expect(colors.count == 2)
        #expect((colors[0] == digits) == isKeptLight)
        #expect((colors[1] == digits) == isKeptDark)
    }

    @Test("The configuration file has names, logos and colors")
    func readsAppearance() throws {
        let configuration = try ServerConfiguration(
            yaml: """
                server: {accentColor: "3366cc", logo: "\(Self.pixel)"}
                clients: [{id: shop, name: The Shop, logo: "https://shop.example.test/logo.png"}]
                """)
        #expect(configuration.accentColor == "3366cc" && configuration.logo == Self.pixel)
        #expect(configuration.clients.first?.shownName == "The Shop")
    }

    @Test(
        "An address that is not one of an image is refused",
        arguments: [
            "http://x.test/a.png", "javascript:x", "data:text/html,x", "data:image/svg+xml,x", "data:image/SVG+xml,x",
            "https:", "https://a_b/x", "/a.png", "",
        ])
    func refusesAddress(address: String) {
        #expect(!PageImage.isAddress(address))
    }
}
