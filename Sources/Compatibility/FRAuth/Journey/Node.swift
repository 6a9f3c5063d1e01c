public import SignetCore
import SignetJourney

/// A completion that is called once, with one of three: the journey's result, its next step, or an error. All three are nil when
/// the journey succeeds without a session. It is called on the global executor of Swift's tasks.
public typealias NodeCompletion<T: Sendable> = @Sendable (_ result: T?, _ node: sending Node?, _ error: (any Error)?) -> Void

/// A step of a journey: callbacks to show and to fill in, and a method that sends them.
public final class Node {
    /// The callbacks, in the server's order.
    public let callbacks: [Callback]
    /// The server's token for the state of the journey.
    public var authId: String { step.authId }
    /// The identifier of this run of the journey, generated on the client.
    public let authServiceId: String
    /// The stage of the page.
    public var stage: String? { step.pageStage }
    /// The heading of the page.
    public var pageHeader: String? { step.header }
    /// The text of the page.
    public var pageDescription: String? { step.description }

    private let step: JourneyStep
    private let walk: LegacyWalk

    init(_ step: JourneyStep, walk: LegacyWalk) throws {
        self.step = step
        self.walk = walk
        authServiceId = walk.id
        callbacks = try step.callbacks.map { try walk.factory.callback($0) }
        let hidden = callbacks.compactMap { $0 as? HiddenValueCallback }
        for case let protect as PingOneProtectCallback in callbacks { protect.hidden = hidden }
    }

    /// The step with the values that the app filled in.
    private var filled: JourneyStep {
        var step = step
        step.callbacks = callbacks.map(\.wire)
        return step
    }

    /// Fills in a step with the engine's functions for a whole step, such as those for a passkey, a device's key or a device's
    /// profile.
    ///
    ///     try await node.answer { try await $0.answerDeviceBinding(with: binding) }
    ///
    /// - Parameter body: Fills in the step. It may answer callbacks, but must not add or remove any.
    public func answer<R>(_ body: (inout JourneyStep) async throws -> R) async rethrows -> R {
        var step = filled
        let result = try await body(&step)
        for (callback, wire) in zip(callbacks, step.callbacks) { callback.wire = wire }
        return result
    }

    /// Sends the values that are filled in when this method is called. The node may be sent again after a failure.
    ///
    /// `T` is the type of the journey's result: a ``Token``, or a type that the process's session creates from one,
    /// ``AccessToken`` or ``FRUser``.
    public func next<T: Sendable>(completion: @escaping NodeCompletion<T>) {
        let (step, walk) = (filled, walk)
        walk.run(completion) { try await $0.next(step, of: walk.index, options: walk.options) }
    }

    /// Sends the values that are filled in, and returns the next step or the result.
    /// - Throws: ``AuthError``, ``AuthApiError``, ``NetworkError``.
    public func next<T: Sendable>(_ type: T.Type = T.self) async throws -> sending NodeResult<T> {
        let (step, walk) = (filled, walk)
        return try await walk.result { try await $0.next(step, of: walk.index, options: walk.options) }
    }
}

/// The outcome of a step.
public enum NodeResult<T: Sendable> {
    /// The journey continues with this step.
    case node(Node)
    /// The journey succeeded, with a result or, without a session, with nil.
    case success(T?)
}

/// A run of a journey, with the types of the ForgeRock SDK.
struct LegacyWalk: Sendable {
    let journeys: Journey
    let index: AuthenticationIndex
    let options: JourneyOptions
    let factory: CallbackFactory
    let endings: any JourneyEndings
    let id = RandomID.uuid()

    func result<T: Sendable>(
        _ request: @Sendable (Journey) async throws -> JourneyState
    ) async throws -> sending NodeResult<T> {
        do {
            try await endings.settle()
            switch try await request(journeys) {
            case .step(let step): return .node(try Node(step, walk: self))
            case .loggedIn(let token): return .success(try await endings.result(of: token, as: T.self))
            case .completed: return .success(nil)
            }
        } catch {
            throw LegacyErrors.error(error)
        }
    }

    /// Calls the completion with the error of a journey that could not start. It runs on the executor that every completion is
    /// called on.
    static func refuse<T: Sendable>(_ completion: @escaping NodeCompletion<T>, _ error: any Error) {
        Task { completion(nil, nil, error) }
    }

    func run<T: Sendable>(
        _ completion: @escaping NodeCompletion<T>, _ request: @escaping @Sendable (Journey) async throws -> JourneyState
    ) {
        Task {
            do {
                try await endings.settle()
                switch try await request(journeys) {
                case .step(let step): completion(nil, try Node(step, walk: self), nil)
                case .loggedIn(let token): completion(try await endings.result(of: token, as: T.self), nil, nil)
                case .completed: completion(nil, nil, nil)
                }
            } catch {
                completion(nil, nil, LegacyErrors.error(error))
            }
        }
    }
}

/// The conversion of the session that a journey ends with into the requested result.
package protocol JourneyEndings: Sendable {
    /// Waits for work that must be complete before a journey continues.
    /// - Throws: The error that prevents the journey from continuing.
    func settle() async throws
    /// Converts a session to a `T`.
    /// - Throws: ``AuthError/invalidGenericType`` for a type that a journey does not end with.
    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T
}

/// The conversion for a journey without a started SDK, which does not store its session.
struct PassingEndings: JourneyEndings {
    func settle() async {}

    func result<T: Sendable>(of token: SSOToken, as type: T.Type) async throws -> T {
        guard let token = Token(token) as? T else { throw AuthError.invalidGenericType }
        return token
    }
}

extension Token {
    init(_ token: SSOToken) {
        self.init(value: token.value, successUrl: token.successURL ?? "", realm: token.realm ?? "")
    }
}
