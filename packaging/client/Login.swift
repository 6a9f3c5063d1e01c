import FRAuth

let options = FROptions(
    url: "https://am.example.com/am", realm: "root", cookieName: "iPlanetDirectoryPro", oauthClientId: "app",
    oauthRedirectUri: "org.example.app://callback", oauthScope: "openid profile")
try FRAuth.start(options: options)
print(FRUser.currentUser == nil ? "No user is logged in." : "A user is logged in.")
