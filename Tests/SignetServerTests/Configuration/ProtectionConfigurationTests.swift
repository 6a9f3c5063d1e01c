import Foundation
import SignetCore
import SignetTesting
import Testing

@testable import SignetServer

@Suite("Configuration of limits, CORS and TLS")
struct ProtectionConfigurationTests {
    private func server(_ lines: String) throws -> ServerConfiguration { try ServerConfiguration(yaml: "server:\n\(lines)") }

    private func problems(_ lines: String) -> [String] {
        do {
            _ = try server(lines)
            return []
        } catch let error as ConfigurationError {
            return error.problems.map(\.message)
        } catch {
            return ["\(error)"]
        }
    }

    @Test("Every limit, CORS origin and TLS setting of a file is read into the configuration")
    func readsProtectionSettings() throws {
        let file = try server(
            """
              limits:
                maxBodySize: 2048
                maxHeaderSize: 4096
                headerTimeout: 1
                bodyTimeout: 2
                idleTimeout: 3
                maxConnections: 4
                loginFlows: {perMinute: 17, burst: 18}
                rateLimits: {authenticate: {perMinute: 5, burst: 6}, token: none, perUser: {burst: 7}, userCode: {perMinute: 11}}
                lockout: {failures: 8, within: 9, duration: 10}
                factorLockout: {failures: 12, duration: 13, total: 14}
                messages: {maxWaiting: 2, unanswered: 4, pause: 15, maxPause: 16}
              allowedHosts: [login.example.test, 10.0.2.2, "fd00::1"]
              corsOrigins: ["https://app.example", "http://localhost:3000", "http://[::1]:8080"]
              tls: {certificate: cert.pem, key: key.pem}
            """)
        #expect(file.maxBodySize == 2048)
        var limits = ServerLimits()
        limits.maxHeaderSize = 4096
        limits.headerTimeout = 1
        limits.bodyTimeout = 2
        limits.idleTimeout = 3
        limits.maxConnections = 4
        limits.loginFlows = RateLimit(perMinute: 17, burst: 18)
        limits.rateLimits = RateLimits(
            authenticate: RateLimit(perMinute: 5, burst: 6), push: RateLimits.default.push,
            perUser: RateLimit(perMinute: 30, burst: 7), userCode: RateLimit(perMinute: 11, burst: 10))
        limits.lockout = Lockout(failures: 8, within: 9, duration: 10)
        limits.factorLockout = FactorLockout(failures: 12, duration: 13, total: 14)
        limits.messages = MessageLimits(maxWaiting: 2, unanswered: 4, pause: 15, maxPause: 16)
        #expect(file.limits == limits)
        #expect(file.allowedHosts == ["login.example.test", "10.0.2.2", "fd00::1"])
        #expect(file.corsOrigins == ["https://app.example", "http://localhost:3000", "http://[::1]:8080"])
        #expect(file.tls == .files(certificate: "cert.pem", key: "key.pem"))
    }

    @Test("Missing or unusable certificate files are reported with the line that names them, if the server uses TLS")
    func reportsUnusableCertificateFiles() async throws {
        try await TemporaryDirectory.with { directory in
            for name in ["a", "b"] {
                _ = try AuthorityDirectory(path: directory.file(name), names: CertifiedNames(["localhost"]))
                    .identity(at: SystemWallClock().now)
            }
            try Data("nothing".utf8).write(to: URL(filePath: directory.file("text")))
            func problems(_ certificate: String, _ key: String, usesTLS: Bool = true) -> [String] {
                let yaml = "server:\n  tls:\n    certificate: \(directory.file(certificate))\n    key: \(directory.file(key))\n"
                do {
                    _ = try ServerConfiguration(yaml: yaml, environment: [:], usesTLS: usesTLS)
                    return []
                } catch {
                    return error.problems.map { $0.description.replacing(directory.path, with: "") }
                }
            }
            #expect(problems("a/server.pem", "a/server.key") == [])
            #expect(problems("none.pem", "none.key", usesTLS: false) == [])
            #expect(
                problems("none.pem", "none.key") == [
                    "3:18: server, tls: `certificate`: there is no file /none.pem",
                    "4:10: server, tls: `key`: there is no file /none.key",
                ])
            #expect(problems("text", "a/server.key") == ["3:18: server, tls: `certificate`: /text is not a certificate in PEM"])
            #expect(
                problems("a/server.pem", "b/server.key") == [
                    "4:10: server, tls: `key`: /b/server.key is not the key of /a/server.pem"
                ])
        }
    }

    @Test("Omitted limits have their defaults; `none` and `never` turn them off")
    func omittedLimitsHaveDefaults() throws {
        let file = try server("  issuer: x")
        #expect(file.limits == ServerLimits() && file.corsOrigins.isEmpty && file.allowedHosts.isEmpty && file.tls == nil)
        let none = try server(
            "  limits: {loginFlows: none, rateLimits: none, lockout: never, factorLockout: never, messages: none}\n"
                + "  tls: {directory: here}")
        #expect(file.limits.loginFlows == RateLimit(perMinute: 100, burst: 1000) && none.limits.loginFlows == nil)
        #expect(
            none.limits.rateLimits == RateLimits.none && none.limits.lockout == .never && none.limits.factorLockout == .never
                && none.limits.messages == MessageLimits.none && none.tls == .ownAuthority(directory: "here"))
        // The file's limits apply to every listening address.
        var exposed = none
        exposed.host = "0.0.0.0"
        #expect(exposed.rateLimits == .none && exposed.lockoutRule == .never)
        #expect(exposed.factorLockoutRule == .never && exposed.messageLimits == .none)
    }

    @Test("Limits on guesses and messages apply by default only where other machines can connect")
    func guessLimitsDependOnHost() {
        for (host, isExposed) in [("127.0.0.1", false), ("::1", false), ("localhost", false), ("0.0.0.0", true), ("::", true)] {
            let configuration = ServerConfiguration { $0.host = host }
            #expect(configuration.lockoutRule == (isExposed ? .default : .never), "\(host)")
            #expect(configuration.factorLockoutRule == (isExposed ? .default : .never), "\(host)")
            #expect(configuration.messageLimits == (isExposed ? .default : .none), "\(host)")
            #expect((configuration.rateLimits.perUser != nil) == isExposed, "\(host)")
            #expect((configuration.rateLimits.userCode != nil) == isExposed, "\(host)")
        }
    }

    @Test(
        "Behind a proxy, the guesses and messages of each user are limited by default, and the requests of an address are not",
        arguments: [
            ("https://login.example.test/am", [], true), ("http://10.0.2.2:8080/am", [], true),
            ("http://localhost:8080/am", [], false), ("https://[::1]/am", [], false), (nil, [], false),
            (nil, ["login.example.test"], true), ("http://localhost:8080/am", ["app.localhost", "10.0.2.2"], true),
            (nil, ["app.localhost"], false),
        ] as [(String?, [String], Bool)])
    func guessLimitsDependOnHosts(publicURL: String?, allowedHosts: [String], isReachable: Bool) {
        let configuration = ServerConfiguration {
            $0.publicURL = publicURL
            $0.allowedHosts = allowedHosts
        }
        #expect(configuration.lockoutRule == (isReachable ? .default : .never))
        #expect(configuration.factorLockoutRule == (isReachable ? .default : .never))
        #expect(configuration.messageLimits == (isReachable ? .default : .none))
        #expect(configuration.rateLimits.perUser == (isReachable ? RateLimits.default.perUser : nil))
        #expect(configuration.rateLimits.authenticate == nil)
        #expect(configuration.rateLimits.userCode == (isReachable ? RateLimits.default.userCode : nil))
        #expect(!configuration.limitsUserCodesOfAddress)
    }

    @Test(
        "An invalid protection setting is reported with the name of the setting",
        arguments: [
            ("  limits: 5", "`limits` must be"),
            ("  limits: {headerTimeout: 0}", "`headerTimeout` must be an integer, 1 to 86400, not `0`"),
            ("  limits: {rateLimits: off}", "`rateLimits` must be `none`, or limits by name"),
            ("  limits: {rateLimits: {authenticate: 5}}", "`authenticate` must be `none`, or"),
            ("  limits: {rateLimits: {login: none}}", "login"),
            ("  limits: {rateLimits: {token: {perMinute: 0}}}", "`perMinute`"),
            ("  limits: {loginFlows: 5}", "`loginFlows` must be `none`, or"),
            ("  limits: {loginFlows: {burst: 0}}", "`burst`"),
            ("  limits: {lockout: sometimes}", "`lockout` must be `never`, or"),
            ("  limits: {lockout: {failures: 0}}", "`failures`"),
            ("  limits: {factorLockout: {total: 101}}", "`total` must be an integer, 10 to 100, not `101`"),
            ("  limits: {factorLockout: always}", "`factorLockout` must be `never`, or"),
            ("  limits: {messages: {pause: 60, maxPause: 59}}", "`maxPause` must be an integer, 60 to 86400, not `59`"),
            ("  limits: {messages: some}", "`messages` must be `none`, or"),
            ("  allowedHosts: ['login.example.test:8080']", "isn't a host"),
            ("  allowedHosts: ['https://login']", "isn't a host"),
            ("  allowedHosts: ['*']", "isn't a host"), ("  allowedHosts: ['[fd00::1]']", "isn't a host"),
            ("  corsOrigins: ['*']", "`*` is not possible"), ("  corsOrigins: ['https://app.example/']", "isn't an origin"),
            ("  corsOrigins: ['app.example']", "isn't an origin"),
            ("  corsOrigins: ['https://app.example:443']", "isn't an origin"),
            ("  corsOrigins: ['HTTPS://app.example']", "isn't an origin"),
            ("  corsOrigins: ['http://app.example/x']", "isn't an origin"),
            ("  tls: true", "`tls` must be"), ("  tls: {certificate: a}", "`tls` must be"),
            ("  tls: {directory: a, key: b, certificate: c}", "`tls` must be"),
        ])
    func reportsInvalidProtectionSettings(lines: String, words: String) {
        let problems = problems(lines)
        let isNamed = problems.contains { $0.contains(words) }
        #expect(isNamed, "\(problems)")
    }
}
