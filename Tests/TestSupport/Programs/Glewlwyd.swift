#if os(Linux)
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting

/// Glewlwyd, an OpenID provider in C (Debian's `glewlwyd`).
///
/// It has deviations of its own: status 403 for an invalid code, empty bodies, and revocation for public clients only with the
/// token itself.
package enum Glewlwyd {
    /// A Boolean value that indicates whether the provider is installed.
    package static var isPossible: Bool {
        Programs.missing(["glewlwyd", "openssl", "python3"]).isEmpty
            && FileManager.default.fileExists(atPath: "/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz")
    }

    /// Runs `body` with a new provider and ends the provider afterwards.
    /// - Throws: ``OpenIDProvider/Unavailable``, or the error of `body`.
    package static func with<R>(_ body: (OpenIDProvider) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let (port, redirectPort) = (try ReservedPort(), try ReservedPort())
            let url = "http://localhost:\(port.number)"
            try await makeDatabase(directory.file("glewlwyd.db"))
            let key = directory.file("rsa.key")
            try await openssl("genrsa", "-out", key, "2048")
            try await openssl("rsa", "-in", key, "-pubout", "-out", "\(key).pub")
            try Data(configuration(port: port.number, directory).utf8).write(to: URL(filePath: directory.file("glewlwyd.conf")))
            let server = try TestProcess.kept("glewlwyd", ["--config-file=\(directory.file("glewlwyd.conf"))"])
            return try await OpenIDProvider.running(server, at: "\(url)/config") {
                let redirectURI = "http://127.0.0.1:\(redirectPort.number)/cb"
                let session = try await populate(url, key: key, redirectURI: redirectURI)
                return try await body(
                    OpenIDProvider(
                        url: url, issuer: "\(url)/api/oidc", cookieName: "GLEWLWYD2_SESSION_ID", session: session,
                        redirectURI: redirectURI, signOutRedirectURI: "\(redirectURI)/bye", ports: [port, redirectPort]))
            }
        }
    }

    private static func openssl(_ arguments: String...) async throws {
        let ended = try await TestProcess.run("openssl", arguments)
        guard ended.status == 0 else { throw OpenIDProvider.Unavailable(description: "openssl: \(ended.errors)") }
    }

    private static func makeDatabase(_ path: String) async throws {
        try await Python.run(
            """
            import gzip, sqlite3, sys
            script = gzip.open('/usr/share/doc/glewlwyd/database/init.sqlite3.sql.gz', 'rt').read()
            sqlite3.connect(sys.argv[1]).executescript('BEGIN;' + script + 'COMMIT;')
            """, path)
    }

    /// Returns the configuration.
    ///
    /// The three lines about TLS are required although TLS is off.
    private static func configuration(port: Int, _ directory: TemporaryDirectory) -> String {
        let modules = "/usr/lib/glewlwyd"
        return """
            port=\(port)
            bind_address="127.0.0.1"
            external_url="http://localhost:\(port)"
            login_url="/login.html"
            api_prefix="api"
            static_files_path="\(directory.path)/"
            allow_origin="*"
            log_mode="console"
            log_level="ERROR"
            cookie_secure=0
            session_key="GLEWLWYD2_SESSION_ID"
            session_expiration=2419200
            admin_scope="g_admin"
            profile_scope="g_profile"
            user_module_path="\(modules)/user"
            client_module_path="\(modules)/client"
            user_auth_scheme_module_path="\(modules)/scheme"
            plugin_module_path="\(modules)/plugin"
            use_secure_connection=false
            secure_connection_key_file="/none"
            secure_connection_pem_file="/none"
            secure_connection_ca_file="/none"
            hash_algorithm="SHA256"
            database = { type = "sqlite3"; path = "\(directory.file("glewlwyd.db"))"; };
            static_files_mime_types = ( { extension = ".html"; mime_type = "text/html" } );

            """
    }

    /// Creates the provider, the user and the client, and logs the user in.
    ///
    /// Returns the session cookie.
    private static func populate(_ url: String, key: String, redirectURI: String) async throws -> String {
        let transport = AsyncHTTPTransport()
        func post(_ method: String, _ path: String, _ body: JSONValue, as cookie: String?) async throws -> HTTPResponse {
            var headers: HTTPHeaders = ["Content-Type": "application/json"]
            if let cookie { headers.append("Cookie", "GLEWLWYD2_SESSION_ID=\(cookie)") }
            let response = try await transport.send(
                HTTPRequest(method, "\(url)/api\(path)", headers: headers, body: JSON.encode(body)))
            guard response.status == 200 else {
                let text = String(decoding: response.body, as: UTF8.self)
                throw OpenIDProvider.Unavailable(description: "\(path) answered \(response.status) \(text)")
            }
            return response
        }
        func logIn(_ name: String, _ password: String) async throws -> String {
            let body: JSONValue = .object(["username": .string(name), "password": .string(password)])
            let response = try await post("POST", "/auth", body, as: nil)
            guard let cookie = OpenIDProvider.cookie("GLEWLWYD2_SESSION_ID", in: response) else {
                throw OpenIDProvider.Unavailable(description: "no session for \(name)")
            }
            return cookie
        }
        return try await transport.use { _ in
            let admin = try await logIn("admin", "password")
            let parts = [
                ("/mod/plugin/", try plugin(url, key: key)),
                (
                    "/scope/",
                    #"{"name":"scope1","display_name":"One","description":"test","password_required":true,"password_max_age":0,"scheme":{}}"#
                ),
                (
                    "/user/",
                    #"{"username":"alice","password":"alicepw1","name":"Alice","email":"alice@example.test","scope":["g_profile","openid","scope1"],"enabled":true}"#
                ),
                (
                    "/client/",
                    #"{"client_id":"app","name":"app","confidential":false,"enabled":true,"redirect_uri":["\#(redirectURI)"],"authorization_type":["code","refresh_token","device_authorization","delete_token"],"token_endpoint_auth_method":["none"],"post_logout_redirect_uri":"\#(redirectURI)/bye"}"#
                ),
            ]
            for (path, body) in parts { _ = try await post("POST", path, try JSON.value(of: body.utf8), as: admin) }
            let alice = try await logIn("alice", "alicepw1")
            let consent: JSONValue = .object(["scope": .string("openid scope1 g_profile")])
            _ = try await post("PUT", "/auth/grant/app", consent, as: alice)
            return alice
        }
    }

    private static func plugin(_ url: String, key: String) throws -> String {
        let texts = try [key, "\(key).pub"].map { try String(contentsOfFile: $0, encoding: .utf8) }
        let flags = [
            "refresh-token-rolling", "allow-non-oidc", "auth-type-code-enabled", "auth-type-token-enabled",
            "auth-type-id-token-enabled", "auth-type-none-enabled", "auth-type-password-enabled", "auth-type-client-enabled",
            "auth-type-device-enabled", "auth-type-refresh-enabled", "pkce-allowed", "pkce-required",
            "introspection-revocation-allowed", "introspection-revocation-allow-target-client", "session-management-allowed",
            "jwks-show",
        ]
        var parameters = Dictionary(uniqueKeysWithValues: flags.map { ($0, JSONValue.bool(true)) })
        parameters["pkce-method-plain-allowed"] = .bool(false)
        let numbers: [String: Int64] = [
            "access-token-duration": 3600, "refresh-token-duration": 1_209_600, "code-duration": 600,
            "session-cookie-expiration": 2_419_200, "device-authorization-expiration": 600, "device-authorization-interval": 1,
        ]
        for (name, number) in numbers { parameters[name] = .integer(number) }
        let others: [String: String] = [
            "iss": "\(url)/api/oidc", "jwt-type": "rsa", "jwt-key-size": "256", "key": texts[0], "cert": texts[1],
            "refresh-token-one-use": "never", "session-cookie-name": "OPSID", "subject-type": "public", "name-claim": "on-demand",
            "email-claim": "on-demand",
        ]
        for (name, text) in others { parameters[name] = .string(text) }
        let lists: [String: [String]] = [
            "allowed-scope": ["openid", "scope1", "g_profile"], "introspection-revocation-auth-scope": ["scope1"],
            "name-claim-scope": ["g_profile"], "email-claim-scope": ["g_profile"],
        ]
        for (name, list) in lists { parameters[name] = .array(list.map { .string($0) }) }
        return JSON.text(
            of: .object([
                "module": .string("oidc"), "name": .string("oidc"), "display_name": .string("OIDC"),
                "parameters": .object(parameters),
            ]))
    }
}
#endif
