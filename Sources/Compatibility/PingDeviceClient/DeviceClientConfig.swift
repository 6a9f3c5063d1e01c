public import PingCommons
import SignetCore
import SignetJourney
import SignetNetwork
import SignetOAuth

/// The defaults of ``DeviceClientConfig``.
public enum DeviceClientConstants {
    /// The name of the top-level realm.
    public static let defaultRealm = "root"
    /// The name of the session cookie of a server with the default settings.
    public static let defaultCookieName = "iPlanetDirectoryPro"
}

/// The server and the session of a ``DeviceClient``.
public struct DeviceClientConfig: Sendable {
    /// The address of the server up to its deployment path.
    public let serverUrl: String
    /// The realm.
    public let realm: String
    /// The name of the header field with the session.
    public let cookieName: String
    /// The session of the user, **in plain text**.
    public let ssoToken: String
    /// The HTTP client that sends the requests.
    public let httpClient: HttpClient

    /// Creates a configuration.
    /// - Parameters:
    ///   - serverUrl: The address of the server up to its deployment path.
    ///   - realm: The realm.
    ///   - cookieName: The name of the header field with the session.
    ///   - ssoToken: The session of the user.
    ///   - httpClient: The HTTP client. Its timeout and its `plainHTTPHosts` apply.
    public init(
        serverUrl: String, realm: String = DeviceClientConstants.defaultRealm,
        cookieName: String = DeviceClientConstants.defaultCookieName, ssoToken: String, httpClient: HttpClient = HttpClient()
    ) {
        self.serverUrl = serverUrl
        self.realm = realm
        self.cookieName = cookieName
        self.ssoToken = ssoToken
        self.httpClient = httpClient
    }
}

extension DeviceClientConfig: CustomStringConvertible, CustomReflectable {
    /// The address and the realm, and never the session.
    public var description: String { "devices at \(serverUrl), realm \(realm)" }
    /// An empty mirror, so that `dump` shows no session.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension DeviceClientConfig {
    /// Returns the client of the engine.
    /// - Throws: ``DeviceError/invalidUrl(url:)``, ``DeviceError/missingConfiguration(message:)``.
    func client() throws(DeviceError) -> SignetJourney.DeviceClient {
        let profile: ServerProfile
        do throws(ProfileError) {
            profile = try ServerProfile(
                url: serverUrl, realm: Realm(realm), policy: .allowingPlainHTTP(to: httpClient.plainHTTPHosts)
            ) {
                $0.cookieName = cookieName
                $0.timeout = httpClient.requestTimeout
            }
        } catch {
            throw error.key == "url" ? .invalidUrl(url: "\(serverUrl): \(error)") : .missingConfiguration(message: "\(error)")
        }
        return SignetJourney.DeviceClient(
            profile, session: SSOToken(value: Secret(ssoToken.utf8)), transport: httpClient.transport,
            interceptors: [SDKIdentification.ping])
    }
}
