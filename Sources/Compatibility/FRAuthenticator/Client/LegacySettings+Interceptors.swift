import SignetNetwork

extension LegacySettings {
    /// The interceptors of the app, and after them the one that sets the headers by which servers recognize the ForgeRock SDK.
    var allInterceptors: [any SignetNetwork.RequestInterceptor] {
        let name =
            switch platform {
            case .iOS: "ios"
            case .android: "android"
            }
        return interceptors + [SDKIdentification.forgeRock(platform: name)]
    }
}
