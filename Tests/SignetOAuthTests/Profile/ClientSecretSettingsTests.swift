import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import Testing

@Suite("The client secret in the settings of a profile")
struct ClientSecretSettingsTests {
    /// Creates a profile from a document with more settings of its client.
    private func profile(_ client: String) throws -> ServerProfile {
        let text = #"{"url":"https://am.example.test/am","client":{"id":"app","redirectUri":"app://cb",\#(client)}}"#
        return try ServerProfile(json: text.utf8)
    }

    private func error(_ body: () throws -> ServerProfile) -> ProfileError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? ProfileError
        }
    }

    private func write(_ bytes: some Sequence<UInt8>, to path: String, mode: mode_t = 0o600) throws {
        try Data(bytes).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
    }

    @Test("A document and the environment name the file of the secret, which is one line")
    func readsClientSecretFromFile() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("secret")
            for (content, secret) in [("s3cret", "s3cret"), ("s3cret\n", "s3cret"), (" a:b ü%\r\n", " a:b ü%")] {
                try write(content.utf8, to: path)
                let expected = Secret(secret.utf8)
                let plain = try profile(#""secretFile":"\#(path)""#)
                #expect(plain.client?.authentication == ClientAuthentication.clientSecretBasic(expected))
                let post = try profile(#""secretFile":"\#(path)","authentication":"client_secret_post""#)
                #expect(post.client?.authentication == ClientAuthentication.clientSecretPost(expected))
                let variables = [
                    "SIGNET_URL": "https://am.example.test/am", "SIGNET_CLIENT_ID": "app",
                    "SIGNET_CLIENT_REDIRECT_URI": "app://cb", "SIGNET_CLIENT_AUTHENTICATION": "client_secret_post",
                    "SIGNET_CLIENT_SECRET_FILE": path, "SIGNET_CLIENT_SECRET": "not read",
                ]
                let same = try ServerProfile(environment: variables)
                #expect(same == post)
            }
            let open = try profile(#""authentication":"none""#)
            #expect(open.client?.authentication == ClientAuthentication.none)
            let usual = try profile(#""scopes":[]"#)
            #expect(usual == open)
        }
    }

    @Test("A secret file that other users can read, a link, and content other than a line of text are refused")
    func refusesUnsafeClientSecretFile() async throws {
        try await TemporaryDirectory.with { directory in
            let path = directory.file("secret")
            func refusal() -> ProfileError? { error { try profile(#""secretFile":"\#(path)""#) } }
            for mode in [0o644, 0o640, 0o604, 0o660] as [mode_t] {
                try write("s3cret".utf8, to: path, mode: mode)
                let found = refusal()
                #expect(found?.key == "client.secretFile" && found?.description.contains("chmod 600") == true)
            }
            let contents: [[UInt8]] = [
                [], [0x0A], Array("a\nb\n".utf8), Array("a\u{7}".utf8), [0xFF], Array(repeating: 0x61, count: 1025),
            ]
            for content in contents {
                try write(content, to: path)
                #expect(refusal()?.key == "client.secretFile")
            }
            try write("s3cret".utf8, to: directory.file("target"))
            try FileManager.default.removeItem(atPath: path)
            #expect(refusal()?.key == "client.secretFile")
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: directory.file("target"))
            #expect(refusal()?.description.contains("link") == true)
        }
    }

    /// Creates a profile from environment variables that name the file of the secret and the directory of systemd's credentials.
    private func profile(secretFile: String, credentials: String?) throws -> ServerProfile {
        var variables = [
            "SIGNET_URL": "https://am.example.test/am", "SIGNET_CLIENT_ID": "app", "SIGNET_CLIENT_REDIRECT_URI": "app://cb",
            "SIGNET_CLIENT_SECRET_FILE": secretFile,
        ]
        variables["CREDENTIALS_DIRECTORY"] = credentials
        return try ServerProfile(environment: variables)
    }

    @Test("A secret file in the directory of systemd's credentials has the rules of a credential, and elsewhere those of a file")
    func readsClientSecretOfCredentialsDirectory() async throws {
        try await TemporaryDirectory.with { directory in
            let folder = directory.file("credentials")
            try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
            let path = "\(folder)/web.secret"
            try write("s3cret\n".utf8, to: path, mode: 0o400)
            let expected = ClientAuthentication.clientSecretBasic(Secret("s3cret".utf8))

            try #require(chmod(folder, 0o700) == 0)
            let credential = try profile(secretFile: path, credentials: folder)
            #expect(credential.client?.authentication == expected)
            let absent = error { try profile(secretFile: "\(folder)/other", credentials: folder) }
            #expect(absent?.key == "client.secretFile" && absent?.description.contains("it does not exist") == true)

            // Others must not reach the directory of a credential. The directory of another file does not count.
            try #require(chmod(folder, 0o755) == 0)
            let refused = error { try profile(secretFile: path, credentials: folder) }
            #expect(refused?.key == "client.secretFile" && refused?.description.contains("chmod 700") == true)
            for credentials in [nil, "", "credentials", "/", directory.path, "\(folder)s"] as [String?] {
                let file = try profile(secretFile: path, credentials: credentials)
                #expect(file.client?.authentication == expected)
            }
            for other in ["\(folder)/./web.secret", "\(folder)/../credentials/web.secret", "\(folder)//web.secret"] {
                let file = try profile(secretFile: other, credentials: folder)
                #expect(file.client?.authentication == expected)
            }
            for name in ["", ".", ".."] {
                let found = error { try profile(secretFile: "\(folder)/\(name)", credentials: folder) }
                #expect(found?.key == "client.secretFile")
            }
        }
    }

    @Test(
        "Contradicting or incomplete settings of the authentication are named",
        arguments: [
            (#""authentication":"client_secret_basic""#, "client.secretFile"),
            (#""authentication":"private_key_jwt""#, "client.keyFile"),
            (#""authentication":"tls_client_auth""#, "client.authentication"),
            (#""authentication":"none","secretFile":"/run/secret""#, "client.secretFile"),
            (#""secretFile":"secret""#, "client.secretFile"), (#""secretFile":"/nonexistent/secret""#, "client.secretFile"),
            (#""secretFile":7"#, "client.secretFile"), (#""secret":"s3cret""#, "client.secret"),
        ])
    func namesWrongClientAuthentication(settings: String, key: String) {
        let found = error { try profile(settings) }
        #expect(found?.key == key && found?.description.contains("s3cret") == false)
    }

    @Test("An app with a storage of its own gives the secret for the method that the document names")
    func takesSecretOfApp() throws {
        let secret = Secret("s3cret".utf8)
        let start = #"{"url":"https://am.example.test/am","client":{"id":"app","redirectUri":"app://cb""#
        let cases: [(setting: String, expected: ClientAuthentication)] = [
            ("", .clientSecretBasic(secret)), (#","authentication":"client_secret_basic""#, .clientSecretBasic(secret)),
            (#","authentication":"client_secret_post""#, .clientSecretPost(secret)),
            (#","authentication":"none""#, ClientAuthentication.none),
        ]
        for (setting, expected) in cases {
            let text = start + setting + "}}"
            let profile = try ServerProfile(json: text.utf8, clientSecret: secret)
            let same = try ServerProfile(document: try JSON.value(of: text.utf8), clientSecret: secret)
            #expect(profile.client?.authentication == expected && same == profile)
        }
        #expect(throws: ProfileError.self) {
            try ServerProfile(json: #"{"url":"https://am.example.test/am"}"#.utf8, clientSecret: secret)
        }
    }

    @Test("An app sets the secret of a client whose profile comes from a document")
    func setsAuthenticationInCode() throws {
        var profile = try profile(#""scopes":[]"#)
        profile.client?.authentication = .clientSecretBasic(Secret("s3cret".utf8))
        #expect(profile.client?.authentication.description == "client_secret_basic")
        profile.client?.authentication = .clientSecretPost(Secret("".utf8))
        let empty = profile
        #expect(throws: ProfileError.self) {
            try TokenSource(empty, store: .memory(), transport: ScriptedTransport { _ in HTTPResponse(status: 500) })
        }
    }
}
