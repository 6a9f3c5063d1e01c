import Foundation
package import SignetCore
package import SignetNetwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of the ForgeRock SDKs' common parts in a process: interceptors, log, detectors and network.
///
/// A process has one. A test can have its own.
package final class FRCoreProcess: Sendable {
    /// The state of this process.
    @TaskLocal package static var current = FRCoreProcess()

    let state = Mutex(State())

    /// The parts that an app can set.
    struct State: Sendable {
        var interceptors: [any RequestInterceptor] = []
        var logLevel = LogLevel.none
        var loggers: [any FRLogger] = [SystemLogger()]
        var detectors: [any JailbreakDetector] = [ProcessTamperingDetector()]
        /// The transport that the app set; nil for the default one.
        var transport: (any HTTPTransport)?
        /// The keys of which a server must have one.
        var pins: Set<PublicKeyPin> = []
        /// The keys of the settings that FRAuth was started with, for requests without other ones.
        var settingsPins: Set<PublicKeyPin> = []
        var plainHTTPHosts: Set<String> = []
    }

    private let defaultTransport = DefaultTransport.make()

    /// Creates a state without interceptors, with the default network.
    package init() {}

    /// The transport for all requests: the app's own one, or the default one.
    package var transport: any HTTPTransport { ProcessTransport(process: self) }

    /// The permitted addresses.
    package var policy: EndpointPolicy { .allowingPlainHTTP(to: state.withLock { $0.plainHTTPHosts }) }

    /// The interceptors, in order.
    package var interceptors: [any RequestInterceptor] { state.withLock { $0.interceptors } }

    /// Allows plain `http` to the hosts with these names, and to no others.
    package func allowPlainHTTP(to hosts: Set<String>) { state.withLock { $0.plainHTTPHosts = hosts } }

    /// The keys of which a server must have one.
    package var pins: Set<PublicKeyPin> { state.withLock { $0.pins } }

    /// Sets the transport; nil for the default one.
    package func set(_ transport: (any HTTPTransport)?) {
        state.withLock { ($0.transport, $0.pins) = (transport, []) }
    }

    /// Sets the default transport with keys of which a server must have one.
    func set(pins: Set<PublicKeyPin>) {
        state.withLock { ($0.transport, $0.pins) = (nil, pins) }
    }

    /// Sets the keys of the settings that FRAuth was started with; empty for none.
    ///
    /// They apply to each request that has no pins of its own, over the app's own transport too.
    package func set(settingsPins: Set<PublicKeyPin>) { state.withLock { $0.settingsPins = settingsPins } }

    /// The transport of this moment, and the pins that each request over it gets.
    fileprivate var route: (transport: any HTTPTransport, pins: Set<PublicKeyPin>) {
        state.withLock { ($0.transport ?? defaultTransport, $0.pins.isEmpty ? $0.settingsPins : $0.pins) }
    }
}

/// A transport that sends each request over the transport that the process has at that time.
private struct ProcessTransport: HTTPTransport {
    let process: FRCoreProcess

    var canPin: Bool { process.route.transport.canPin }

    func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let (transport, pins) = process.route
        return try await transport.deliver(request.adding(pins))
    }

    func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        let (transport, pins) = process.route
        let request = request.adding(pins)
        try transport.checkPins(of: request)
        return try await transport.stream(request, receive: receive)
    }
}

extension HTTPRequest {
    /// Returns the request with these pins if it has none of its own.
    fileprivate func adding(_ pins: Set<PublicKeyPin>) -> HTTPRequest {
        guard self.pins.isEmpty, !pins.isEmpty else { return self }
        var request = self
        request.pins = pins
        return request
    }
}
