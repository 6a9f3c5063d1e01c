import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

@Suite("HTTPS server", .timeLimit(.minutes(5)))
struct SecureServerTests {
    private static func serve(
        _ tls: ServerTLS, host: String = "127.0.0.1", clock: any WallClock = SystemWallClock(),
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let configuration = ServerConfiguration.sample {
            $0.host = host
            $0.tls = tls
        }
        try await TestServer.live(configuration, clock: clock) { server in try await body(server.url) }
    }

    @Test("A client that trusts the authority connects under every name, and cookies are marked Secure")
    func answersTrustingClient() async throws {
        try await TemporaryDirectory.with { directory in
            let tls = ServerTLS.ownAuthority(directory: directory.file("tls"))
            try await Self.serve(tls) { url in
                #expect(url.hasPrefix("https://127.0.0.1:"))
                let file = try #require(tls.authorityFile)
                try await AsyncHTTPTransport(authorities: .file(file)).use { transport in
                    for host in ["127.0.0.1", "localhost"] {
                        let address = url.replacingOccurrences(of: "127.0.0.1", with: host)
                        let reply = try await transport.send(HTTPRequest("GET", "\(address)/XUI/"))
                        #expect(reply.status == 200)
                        let cookies = reply.headers.all("Set-Cookie")
                        let insecure = cookies.filter { !$0.contains("; Secure") }
                        #expect(insecure.isEmpty)
                        #expect(!cookies.isEmpty)
                        #expect(reply.headers["Strict-Transport-Security"] == nil)
                    }
                }
            }
        }
    }

    @Test("A client that does not trust the authority fails with a TLS error")
    func failsUntrustingClient() async throws {
        try await TemporaryDirectory.with { directory in
            let other = AuthorityDirectory(path: directory.file("other"), names: CertifiedNames(["localhost"]))
            _ = try other.identity(at: SystemWallClock().now)
            try await Self.serve(.ownAuthority(directory: directory.file("tls"))) { url in
                for authorities in [AsyncHTTPTransport.Authorities.system, .file(directory.file("other/authority.pem"))] {
                    await AsyncHTTPTransport(authorities: authorities).use { transport in
                        let error = await #expect(throws: TransportError.self) {
                            try await transport.send(HTTPRequest("GET", "\(url)/health"))
                        }
                        #expect(error?.code == .tls)
                    }
                }
            }
        }
    }

    @Test(
        "OpenSSL and Python verify the server certificate under each name",
        .enabled(if: Programs.missing(["openssl", "python3"]).isEmpty))
    func opensslAndPythonVerifyCertificate() async throws {
        try await TemporaryDirectory.with { directory in
            let tls = ServerTLS.ownAuthority(directory: directory.file("tls"))
            try await Self.serve(tls) { url in
                let file = try #require(tls.authorityFile)
                let verified = try await TestProcess.run(
                    "openssl",
                    ["verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", file, directory.file("tls/server.pem")])
                #expect(verified.status == 0, "\(verified.output)\(verified.errors)")
                let port = try Endpoint(url).port
                for host in ["127.0.0.1", "localhost"] {
                    let program = """
                        import ssl, sys, http.client
                        context = ssl.create_default_context(cafile=sys.argv[1])
                        context.verify_flags |= ssl.VERIFY_X509_STRICT
                        connection = http.client.HTTPSConnection(sys.argv[2], int(sys.argv[3]), context=context)
                        connection.request('GET', '/am/health')
                        print(connection.getresponse().status, connection.sock.version() if connection.sock else '')
                        """
                    let asked = try await TestProcess.run("python3", ["-c", program, file, host, String(port)])
                    #expect(asked.output.hasPrefix("200"), "\(asked.errors)")
                }
            }
        }
    }

    @Test("The server accepts TLS 1.2 and 1.3 and refuses older versions", .enabled(if: Programs.missing(["openssl"]).isEmpty))
    func acceptsModernTLSVersions() async throws {
        try await TemporaryDirectory.with { directory in
            try await Self.serve(.ownAuthority(directory: directory.file("tls"))) { url in
                let port = try Endpoint(url).port
                for (version, isSpoken) in [("-tls1_1", false), ("-tls1_2", true), ("-tls1_3", true)] {
                    let outcome = try await TestProcess.run(
                        "openssl", ["s_client", version, "-cipher", "DEFAULT@SECLEVEL=0", "-connect", "127.0.0.1:\(port)"])
                    #expect((outcome.status == 0) == isSpoken, "\(version)")
                }
            }
        }
    }

    @Test("The certificate is renewed while the server runs")
    func renewsCertificateWhileRunning() async throws {
        try await TemporaryDirectory.with { directory in
            let clock = ManualClock(SystemWallClock().now - 80 * 86_400)
            let tls = ServerTLS.ownAuthority(directory: directory.file("tls"))
            try await Self.serve(tls, clock: clock) { url in
                let (file, server) = (try #require(tls.authorityFile), directory.file("tls/server.pem"))
                let first = try String(contentsOfFile: server, encoding: .utf8)
                clock.advance(by: 80 * 86_400)
                try await AsyncHTTPTransport(authorities: .file(file)).use { transport in
                    let reply = try await transport.send(HTTPRequest("GET", "\(url)/health"))
                    #expect(reply.status == 200)
                }
                #expect(try String(contentsOfFile: server, encoding: .utf8) != first)
            }
        }
    }

    @Test("The server uses a certificate and a key from files")
    func servesCertificateFromFiles() async throws {
        try await TemporaryDirectory.with { directory in
            let authority = AuthorityDirectory(path: directory.file("a"), names: CertifiedNames(["localhost", "127.0.0.1"]))
            _ = try authority.identity(at: SystemWallClock().now)
            let tls = ServerTLS.files(certificate: directory.file("a/server.pem"), key: directory.file("a/server.key"))
            #expect(tls.authorityFile == nil)
            try await Self.serve(tls) { url in
                try await AsyncHTTPTransport(authorities: .file(directory.file("a/authority.pem"))).use { transport in
                    let reply = try await transport.send(HTTPRequest("GET", "\(url)/health"))
                    #expect(reply.status == 200)
                }
            }
        }
    }

    @Test("Each unusable certificate or key file stops the start with an error that names its fault")
    func reportsUnusableTLSFiles() async throws {
        try await TemporaryDirectory.with { directory in
            for name in ["a", "b"] {
                let names = CertifiedNames(["localhost"])
                _ = try AuthorityDirectory(path: directory.file(name), names: names).identity(at: SystemWallClock().now)
            }
            try Data("nothing".utf8).write(to: URL(filePath: directory.file("text")))
            try Data(contentsOf: URL(filePath: directory.file("a/server.key"))).write(
                to: URL(filePath: directory.file("open.key")))
            #expect(chmod(directory.file("open.key"), 0o644) == 0 && chmod(directory.file("text"), 0o600) == 0)
            let (certificate, key) = (directory.file("a/server.pem"), directory.file("a/server.key"))
            for (certificate, key, word) in [
                (directory.file("none"), key, "there is no file"), (certificate, directory.file("none"), "there is no file"),
                (directory.file("text"), key, "not a certificate"), (certificate, directory.file("text"), "not a key"),
                (certificate, directory.file("b/server.key"), "is not the key of"),
                (certificate, directory.file("open.key"), "chmod 600"),
                (directory.path, key, "is not a file"),
            ] {
                let error = await #expect(throws: ServerTLSError.self) {
                    try await Self.serve(.files(certificate: certificate, key: key)) { _ in }
                }
                #expect(error?.description.contains(word) == true, "\(error?.description ?? "")")
            }
        }
    }
}
