import FRCore
import SignetNetwork

extension LegacySettings {
    /// The interceptors of this process's registry, then those of the client, and last the one that sets the headers by which servers
    /// recognize the ForgeRock SDK.
    var allInterceptors: [any SignetNetwork.RequestInterceptor] {
        let name =
            switch platform {
            case .iOS: "ios"
            case .android: "android"
            }
        return [RegisteredInterceptors(.current)] + interceptors + [SDKIdentification.forgeRock(platform: name)]
    }
}
