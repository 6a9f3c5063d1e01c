/// An interceptor that sets the header fields by which servers recognize the SDK of a vendor.
///
/// As the last one, it replaces what other interceptors have set. Journeys that were made for such an SDK can depend on the values.
package struct SDKIdentification: RequestInterceptor {
    private let name: String
    private let platform: String

    /// The identification of the ForgeRock SDK for a platform: `ios` or `android`.
    package static func forgeRock(platform: String = "ios") -> SDKIdentification {
        SDKIdentification(name: "forgerock-sdk", platform: platform)
    }

    /// The identification of the Ping SDK for iOS.
    package static let ping = SDKIdentification(name: "ping-sdk", platform: "ios")

    /// Returns the request with the fields.
    package func intercept(_ request: HTTPRequest, for action: RequestAction) async throws -> HTTPRequest { identify(request) }

    /// Returns the request with the fields.
    package func identify(_ request: HTTPRequest) -> HTTPRequest {
        var request = request
        request.headers.set("x-requested-with", name)
        request.headers.set("x-requested-platform", platform)
        return request
    }
}
