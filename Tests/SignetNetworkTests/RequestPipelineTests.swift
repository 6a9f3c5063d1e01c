import SignetCore
import SignetNetwork
import SignetTesting
import Testing

@Suite("The request pipeline")
struct RequestPipelineTests {
    /// An interceptor that replaces the pins of every request.
    private struct Pinning: RequestInterceptor {
        let pins: Set<PublicKeyPin>

        func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest {
            var request = request
            request.pins = pins
            return request
        }
    }

    private static let own = PublicKeyPin(of: [1, 2, 3])
    private static let other = PublicKeyPin(of: [4, 5, 6])

    @Test(
        "An interceptor can add pins to a request without pins, and can't change or remove the pins of a profile",
        arguments: [
            ([], [other], [other]), ([own], [other], [own]), ([own], [], [own]), ([], [], []),
        ] as [(profile: Set<PublicKeyPin>, added: Set<PublicKeyPin>, sent: Set<PublicKeyPin>)])
    func interceptorCannotReplacePins(
        profile: Set<PublicKeyPin>, added: Set<PublicKeyPin>, sent: Set<PublicKeyPin>
    ) async throws {
        let transport = ScriptedTransport(canPin: true) { _ in HTTPResponse(status: 200) }
        let pipeline = RequestPipeline(transport, interceptors: [Pinning(pins: added)])
        let request = HTTPRequest("GET", "https://am.example.com/push", pins: profile)
        _ = try await pipeline.send(request, for: .pushAuthenticate)
        _ = try await pipeline.stream(request, for: .pushStream) { _ in }
        #expect(transport.requests.map(\.pins) == [sent, sent])
    }
}
