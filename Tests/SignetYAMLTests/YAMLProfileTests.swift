import SignetCore
import SignetOAuth
import SignetYAML
import Testing

@Suite("Server profiles in YAML")
struct YAMLProfileTests {
    @Test("A YAML profile equals the same document in JSON, and JSON is accepted too")
    func yamlEqualsJSON() throws {
        let yaml = """
            # The development server.
            url: https://am.example.test/am
            realm: 2024
            timeout: 7.5
            keepsCookies: No
            """.replacing("No", with: "false")
        let json = #"{"url": "https://am.example.test/am", "realm": "2024", "timeout": 7.5, "keepsCookies": false}"#
        #expect(try ServerProfile(yaml: yaml.utf8) == ServerProfile(json: json.utf8))
        #expect(try ServerProfile(yaml: json.utf8) == ServerProfile(json: json.utf8))
    }

    @Test("A YAML profile takes the secret of its client from the app")
    func takesClientSecretOfApp() throws {
        let yaml = """
            url: https://am.example.test/am
            client: {id: web, redirectUri: "http://127.0.0.1/callback", authentication: client_secret_post}
            """
        let profile = try ServerProfile(yaml: yaml.utf8, clientSecret: Secret("s3cret".utf8))
        #expect(profile.client?.authentication == ClientAuthentication.clientSecretPost(Secret("s3cret".utf8)))
        #expect(throws: ProfileError.self) { try ServerProfile(yaml: yaml.utf8) }
    }

    @Test("A YAML profile may contain lists, quoted values and empty values")
    func readsYAMLForms() throws {
        let profile = try ServerProfile(
            yaml: """
                url: 'https://am.example.test/am'
                realm: ~
                keepsCookies: True
                refreshThreshold: "90"
                endpoints: {revoke: oauth2/revoke}
                client:
                  id: 77
                  redirectUri: http://127.0.0.1/callback
                  scopes:
                    - openid
                    - mail
                  parameters: {max_age: 3600}
                """.utf8)
        #expect(profile.realm == .root && profile.keepsCookies && profile.refreshThreshold == .seconds(90))
        #expect(profile.address(of: .revoke) == "https://am.example.test/am/oauth2/revoke")
        #expect(profile.client?.clientID == "77" && profile.client?.scopes == ["openid", "mail"])
        #expect(profile.client?.authorizationParameters == ["max_age": "3600"])
    }

    @Test(
        "An error gives the line, the setting and the expected value",
        arguments: [
            ("url: https://a.test\ntimeout: soon", "2:1: timeout: must be a number of seconds"),
            ("url: https://a.test\n\ncookiename: x", "3:1: cookiename: is not a setting of a server profile"),
            (
                "url: https://a.test\nclient:\n  id: x\n  secret: hunter2",
                "4:3: client.secret: is not a setting of a server profile"
            ),
            ("url: https://a.test\nclient:\n  id: x", "2:1: client.redirectUri: is missing"),
            ("realm: alpha", "1:1: url: is missing"), ("# nothing", "url: is missing"),
            ("url: http://am.example.test", "1:1: url: plain http to am.example.test"),
            ("- url", "1:1: the profile must be settings, each with a name and a colon, not a list"),
            ("url: https://a.test\nurl: https://b.test", "`url` stands here more than once"),
            ("url: [", "this is not YAML"), ("a: &x 1\nb: *x", "2:4: the profile cannot be read: `*x` refers to an anchor"),
        ])
    func yamlErrorGivesLine(yaml: String, message: String) {
        #expect {
            try ServerProfile(yaml: yaml.utf8)
        } throws: { error in
            let text = (error as? ProfileError)?.description ?? ""
            return (message.first?.isNumber == true ? text.hasPrefix(message) : text.contains(message))
                && !text.contains("hunter2")
        }
    }

    @Test("A document that is not text is refused as such")
    func refusesNonText() {
        #expect { try ServerProfile(yaml: [0xFF, 0xFE]) } throws: { "\($0)".contains("UTF-8") }
    }
}
