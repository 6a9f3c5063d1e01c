import ArgumentParser
import Dispatch
import SignetNetwork

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

struct Demo: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Watch it all work: a server, an authenticator, and logins by code and by push.",
        discussion: "Uses a fresh temporary directory and a free port, and leaves neither behind.")

    func run() async throws {
        let (interrupts, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Before anything begins that would have to be ended.
        let signals = await Self.onInterrupt { interrupted.yield() }
        let play = Task { try await Self.play() }
        let watch = Task { for await _ in interrupts { play.cancel() } }
        defer {
            watch.cancel()
            for signal in signals { signal.cancel() }
        }
        do {
            try await play.value
        } catch is CancellationError {
            Console.error("signet: interrupted; the server is stopped and the files are removed")
            throw ExitCode(130)
        } catch is DemoFailure {
            throw ExitCode.failure
        }
    }

    private static func play() async throws {
        let transport = AsyncHTTPTransport()
        let stage: DemoStage
        do {
            stage = try DemoStage(transport: transport)
        } catch {
            await transport.close()
            Console.error("signet: the demo cannot begin: \((error as? DemoFailure)?.description ?? Failure(error).message)")
            throw DemoFailure("no stage")
        }
        let script = DemoScript(stage: stage)
        let outcome: Result<Void, any Error>
        do {
            try await script.run()
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await transport.close()
        let removal = Result { try stage.removeHome() }
        try outcome.get()
        do {
            try removal.get()
        } catch {
            Console.error("signet: \(error)")
            throw error
        }
    }

    /// Calls `action` when a person, or who supervises us, asks for an end after this has returned.
    private static func onInterrupt(_ action: @escaping @Sendable () -> Void) async -> [any DispatchSourceSignal] {
        var sources: [any DispatchSourceSignal] = []
        for number in [SIGINT, SIGTERM, SIGHUP] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: action)
            // What comes before the system knows of the source goes to nobody.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        return sources
    }
}
