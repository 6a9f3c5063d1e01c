#if os(Linux)
import Foundation
import Glibc
import SignetCore
import SignetNetwork
import SignetTesting

/// privacyIDEA, a server for second factors, with its push tokens.
///
/// The devices are asked to poll: no message goes through Google. `scripts/setup` installs the server in a separate virtual
/// environment. It stores its state in SQLite, in a directory of the test, so it can be stopped and started again.
package final class PrivacyIDEA: Sendable {
    /// The address of the server.
    package let url: String
    private let directory: TemporaryDirectory
    private let port: ReservedPort
    private let transport: AsyncHTTPTransport
    private let process = Mutex<TestProcess?>(nil)
    private let token = Mutex<String>("")

    /// The PIN of every token, which starts a login.
    private static let pin = "1234"

    private static var home: String { Programs.installed("privacyidea") }

    /// A Boolean value that indicates whether the server is installed.
    package static var isPossible: Bool {
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: "\(home)/lib")) ?? []
        return versions.contains {
            FileManager.default.fileExists(atPath: "\(home)/lib/\($0)/site-packages/privacyidea/app.py")
        }
    }

    /// A login that waits for the answer of a device.
    package struct Login: Sendable {
        /// The serial number of the token.
        package let serial: String
        /// The id of the login.
        package let transaction: String
        /// The choice that the login page shows; nil when the device only approves.
        package let choice: String?
    }

    private init(_ directory: TemporaryDirectory, _ transport: AsyncHTTPTransport) throws {
        self.directory = directory
        self.transport = transport
        port = try ReservedPort()
        url = "http://127.0.0.1:\(port.number)"
    }

    /// Runs `body` with a new server, and ends the server afterwards.
    ///
    /// The first start takes some seconds.
    /// - Throws: ``OpenIDProvider/Unavailable``, or the error of `body`.
    package static func with<R>(_ body: (PrivacyIDEA) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            try await AsyncHTTPTransport().use { transport in
                let server = try PrivacyIDEA(directory, transport)
                do {
                    try await server.start()
                    let result = try await body(server)
                    await server.stop()
                    return result
                } catch {
                    let said = server.process.withLock { $0?.soFar.errors ?? "" }
                    await server.stop()
                    guard error is OpenIDProvider.Unavailable else { throw error }
                    throw OpenIDProvider.Unavailable(description: "\(error); it said: \(said)")
                }
            }
        }
    }

    /// Starts the server with the state that it had when it was stopped, and waits until it answers.
    package func start() async throws {
        let started = try TestProcess.kept(
            "\(Self.home)/bin/python3", ["-c", Self.program, directory.path, String(port.number)],
            environment: [
                "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "PYTHONDONTWRITEBYTECODE": "1",
                "HOME": directory.path,
            ])
        process.withLock { $0 = started }
        let end = ContinuousClock.now + TestTimeout.default
        while (try? await transport.send(HTTPRequest("GET", "\(url)/auth", timeout: .seconds(5)))) == nil {
            guard !started.hasEnded, ContinuousClock.now < end else {
                throw OpenIDProvider.Unavailable(description: "privacyIDEA did not start")
            }
            try await Task.sleep(for: .milliseconds(50))
        }
        let answer = try await ask("POST", "/auth", ["username": "admin", "password": "adminpw"])
        token.withLock { $0 = answer["result"]?["value"]?["token"]?.string ?? "" }
    }

    /// Stops the server; its state stays.
    package func stop() async {
        guard let running = process.withLock({ $0 }) else { return }
        running.signal(SIGTERM, group: true)
        _ = await running.end(within: .seconds(10))
        process.withLock { $0 = nil }
    }

    // MARK: The administrator

    /// Returns the enrollment URI of a new push token.
    package func invitation() async throws -> String {
        let fields = ["type": "push", "genkey": "1", "pin": Self.pin]
        let answer = try await ask("POST", "/token/init", fields, asAdministrator: true)
        guard let uri = answer["detail"]?["pushurl"]?["value"]?.string else { throw unexpected(answer) }
        return uri
    }

    /// Sets the policy for logins, such as `push_require_presence`; without actions it is removed.
    package func setLoginPolicy(_ actions: String...) async throws {
        if actions.isEmpty {
            _ = try await ask("DELETE", "/policy/login", asAdministrator: true)
        } else {
            let fields = ["scope": "authentication", "action": actions.joined(separator: ", ")]
            _ = try await ask("POST", "/policy/login", fields, asAdministrator: true)
        }
    }

    /// Sets the time for which a login waits, in seconds.
    package func setValidity(_ seconds: Int) async throws {
        let fields = ["PushChallengeValidityTime": String(seconds)]
        _ = try await ask("POST", "/system/setConfig", fields, asAdministrator: true)
    }

    /// Removes a token.
    package func removeToken(_ serial: String) async throws {
        _ = try await ask("DELETE", "/token/\(serial)", asAdministrator: true)
    }

    // MARK: Logins

    /// Starts a login with a token.
    package func begin(_ serial: String) async throws -> Login {
        let answer = try await ask("POST", "/validate/check", ["serial": serial, "pass": Self.pin])
        guard let detail = answer["detail"], let transaction = detail["transaction_id"]?.string else { throw unexpected(answer) }
        return Login(serial: serial, transaction: transaction, choice: detail["presence_answer"]?.string)
    }

    /// Returns the state of a login: `pending`, `accept` or `declined`.
    package func state(of login: Login) async throws -> String? {
        let answer = try await ask("GET", "/validate/polltransaction?transaction_id=\(login.transaction)")
        return answer["detail"]?["challenge_status"]?.string
    }

    /// Ends a login after the answer of the device.
    /// - Parameters:
    ///   - login: The login.
    ///   - code: The code that the device has shown, for a login that asks for one.
    /// - Returns: True when the user is logged in.
    /// - Throws: ``OpenIDProvider/Unavailable`` when the server fails.
    package func finish(_ login: Login, code: String = "") async throws -> Bool {
        let fields = ["serial": login.serial, "pass": code, "transaction_id": login.transaction]
        return try await ask("POST", "/validate/check", fields)["result"]?["value"] == .bool(true)
    }

    private func unexpected(_ answer: JSONValue) -> OpenIDProvider.Unavailable {
        OpenIDProvider.Unavailable(description: "privacyIDEA answered \(JSON.text(of: answer))")
    }

    private func ask(
        _ method: String, _ path: String, _ fields: [String: String] = [:], asAdministrator: Bool = false
    ) async throws -> JSONValue {
        var request = HTTPRequest(method, url + path)
        if asAdministrator { request.headers.append("Authorization", token.withLock { $0 }) }
        if !fields.isEmpty {
            request.headers.append("Content-Type", "application/x-www-form-urlencoded")
            request.body = Array(FormCoding.encode(fields.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }).utf8)
        }
        let response = try await transport.send(request)
        guard response.status == 200, let answer = try? JSON.value(of: response.body) else {
            throw OpenIDProvider.Unavailable(
                description: "\(method) \(path): \(response.status) \(String(decoding: response.body, as: UTF8.self))")
        }
        return answer
    }

    /// Makes the state in a directory unless it is there, and serves it at a port of the loopback interface.
    private static let program = """
        import os, sys
        folder, port = sys.argv[1], int(sys.argv[2])
        settings = os.path.join(folder, 'pi.cfg')
        os.environ['PRIVACYIDEA_CONFIGFILE'] = settings
        isNew = not os.path.exists(settings)
        if isNew:
            with open(settings, 'w') as file:
                file.write(f'''
        SECRET_KEY = 'a secret key of a test, of more than thirty-two bytes'
        PI_PEPPER = 'the pepper of a test'
        SQLALCHEMY_DATABASE_URI = 'sqlite:///{folder}/pi.sqlite'
        PI_ENCFILE = '{folder}/enckey'
        PI_AUDIT_MODULE = 'privacyidea.lib.auditmodules.loggeraudit'
        PI_AUDIT_NO_SIGN = True
        PI_NO_RESPONSE_SIGN = True
        PI_UUID_FILE = '{folder}/uuid'
        PI_LOGFILE = '{folder}/pi.log'
        PI_LOGLEVEL = 30
        SUPERUSER_REALM = ['super']
        ''')
            with open(os.path.join(folder, 'enckey'), 'wb') as file:
                file.write(os.urandom(96))
        from privacyidea.app import create_app
        from privacyidea.models import db
        app = create_app(config_name='production', silent=True)
        if isNew:
            with app.app_context():
                db.create_all()
                db.session.commit()
                from privacyidea.lib.auth import create_db_admin
                from privacyidea.lib.policy import set_policy
                create_db_admin('admin', password='adminpw')
                set_policy('enroll', scope='enrollment', action=f'push_firebase_configuration=poll only, '
                           f'push_registration_url=http://127.0.0.1:{port}/ttype/push, push_ttl=10')
        from werkzeug.serving import make_server
        make_server('127.0.0.1', port, app, threaded=True).serve_forever()

        """
}
#endif
