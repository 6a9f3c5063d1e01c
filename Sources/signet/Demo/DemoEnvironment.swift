import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

/// The environment of the demo: a new home folder, a server in its own process, and this program as the authenticator.
struct DemoEnvironment {
    let home: String
    private let folder: TemporaryFolder
    let transport: any HTTPTransport
    private let program: String
    private let environment: [String: String]

    /// The server's timeout for push answers in seconds: long enough for a slow machine.
    ///
    /// The demo doesn't wait for its end, but moves the server's clock.
    static let pushTimeout = 60

    init(transport: any HTTPTransport) throws {
        self.transport = transport
        program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        folder = try TemporaryFolder("signet-demo", in: FileManager.default.temporaryDirectory.path(percentEncoded: false))
        home = folder.path
        environment = ProcessInfo.processInfo.environment.merging(["SIGNET_HOME": home + "/vault"]) { _, new in new }
    }

    /// Removes all files of the demo.
    func removeHome() throws {
        do {
            try folder.remove()
        } catch {
            throw DemoFailure("\(home) could not be removed")
        }
    }

    /// The server of the demo.
    struct Server {
        let process: BackgroundProcess
        let url: String
        /// The browser of the user in the starter configuration.
        let browser: Browser
        let administration: DemoAdministration
    }

    /// Starts `signet serve` with the starter configuration and the administration API, and reads its address.
    func startServer() async throws -> Server {
        let configuration = "\(home)/signet.yaml"
        let tokenFile = "\(home)/admin.token"
        try Data(try await ChildProcess.run(program, ["serve", "--print-default-config"], environment: environment).output.utf8)
            .write(
                to: URL(filePath: configuration))
        let process = try BackgroundProcess(
            program,
            [
                "serve", "--state", "memory", "--config", configuration, "--port", "0", "--push-timeout",
                String(Self.pushTimeout), "--admin-token-file", tokenFile, "--exit-on-stdin-eof",
                "--json",
            ],
            environment: environment)
        guard let line = await process.firstLine(), let ready = try? JSON.value(of: line.utf8),
            let url = ready["url"]?.string, let user = ready["users"]?.array?.first,
            let name = user["name"]?.string, let password = user["password"]?.string,
            let adminURL = ready["admin"]?["url"]?.string, let token = try? String(contentsOfFile: tokenFile, encoding: .utf8)
        else {
            process.stop()
            throw DemoFailure("the server did not start")
        }
        let journey = Journey(try ServerProfile(url: url), transport: transport)
        return Server(
            process: process, url: url, browser: Browser(journey: journey, user: name, password: password),
            administration: DemoAdministration(
                url: adminURL, token: token.trimmingCharacters(in: .newlines), transport: transport))
    }

    /// Runs `signet` with these arguments in a separate process, and prints the command as a user would type it.
    func attempt(_ arguments: [String]) async throws -> ChildProcess.Result {
        let typed = arguments.map { $0.hasPrefix(home) ? String($0.dropFirst(home.count + 1)) : $0 }
        Console.line("      $ signet \(typed.joined(separator: " "))")
        return try await ChildProcess.run(program, arguments, environment: environment)
    }

    /// Runs `signet` and throws if it fails.
    ///
    /// Returns its standard output.
    func signet(_ arguments: String...) async throws -> String {
        let result = try await attempt(arguments)
        guard result.status == 0 else {
            throw DemoFailure("'signet \(arguments[0])' ended with \(result.status): \(result.errors)")
        }
        return result.output
    }

    /// Returns the code that `oathtool` computes for the current time, or nil if it isn't installed or fails.
    ///
    /// The secret is passed on standard input.
    func oathtoolCode(_ settings: OATHSettings) async throws -> String? {
        guard let path = ["/usr/bin/oathtool", "/usr/local/bin/oathtool"].first(where: FileManager.default.isExecutableFile)
        else {
            return nil
        }
        let secret = settings.secret.withUnsafeBytes { Base32.encode($0, padded: true) }
        let result = try await ChildProcess.run(
            path, ["--totp", "--base32", "--digits", String(settings.digits.count), "-"], environment: environment,
            input: secret + "\n")
        return result.status == 0 ? result.output : nil
    }
}
