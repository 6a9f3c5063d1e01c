import ArgumentParser
import SignetCore
import SignetNetwork

struct Demo: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Run a server and an authenticator, and log in by code and by push.",
        discussion: """
            Uses a fresh temporary directory and a free port, and leaves neither behind.

            EXAMPLES:
              signet demo
            """)

    func run() async throws {
        Console.outlivesReaders()
        do {
            try await Interrupt.ending { try await Self.runScript() }
        } catch is CancellationError {
            Console.error("signet: interrupted; the server is stopped and the files are removed")
            throw ExitCode(Failure.Exit.interrupted.rawValue)
        } catch is DemoFailure {
            throw ExitCode.failure
        }
    }

    private static func runScript() async throws {
        try await AsyncHTTPTransport().use { transport in
            let environment: DemoEnvironment
            do {
                environment = try DemoEnvironment(transport: transport)
            } catch {
                Console.error("signet: the demo cannot begin: \((error as? DemoFailure)?.description ?? Failure(error).message)")
                throw DemoFailure("no environment")
            }
            let outcome = await Result(of: { try await DemoScript(environment: environment).run() })
            let removal = Result { try environment.removeHome() }
            try outcome.get()
            do {
                try removal.get()
            } catch {
                Console.error("signet: \(error)")
                throw error
            }
        }
    }
}
