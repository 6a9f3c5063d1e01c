import Logging
import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The state of a running server, its clock and its log: what the resources work on.
final class Desk: Sendable {
    let configuration: ServerConfiguration
    let contextPath: String
    let clock: DeskClock
    let journal = Journal()
    let logger: Logger
    let signer: TokenSigner
    let realms: Set<RealmPath>
    private let state: Mutex<DeskState>

    init(_ configuration: ServerConfiguration, clock: any WallClock, logger: Logger) {
        state = Mutex(
            DeskState(
                users: configuration.users, clients: configuration.clients,
                trees: configuration.journeys.trees,
                baseURL: configuration.baseURL(port: configuration.port)))
        realms = Set(configuration.realms.map { RealmPath($0) })
        contextPath = configuration.normalContextPath
        signer = TokenSigner(configuration.signingKey)
        var configuration = configuration
        // Others have all that is needed of them.
        configuration.users = []
        configuration.clients = []
        configuration.signingKey = nil
        self.configuration = configuration
        self.clock = DeskClock(clock)
        self.logger = logger
    }

    func has(_ realm: RealmPath) -> Bool { realms.contains(realm) }

    /// Runs one transaction, at the present moment, and then tells of the letters that it sent: who is told may take its time.
    func transact<R: Sendable, E: Error>(_ body: (inout DeskState, Moment) throws(E) -> R) throws(E) -> R {
        let now = clock.now
        let (value, letters) = try state.withLock { (state: inout DeskState) throws(E) -> (R, [Letter]) in
            let moment = Moment(now: now, configuration: configuration, baseURL: state.baseURL)
            let value = try body(&state, moment)
            return (value, configuration.onLetter == nil ? [] : state.outbox.takeUndelivered())
        }
        for letter in letters { configuration.onLetter?(letter) }
        return value
    }

    /// The address clients reach the server at, with the context path.
    var baseURL: String { transact { state, _ in state.baseURL } }

    /// Says which port the socket got.
    func bound(to port: Int) {
        transact { state, _ in state.baseURL = configuration.baseURL(port: port) }
    }
}
